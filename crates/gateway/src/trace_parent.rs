//! The parent of the span of a request.

use std::fmt;

use switchboard_host::TraceHeaders;
use tracing::Span;

/// Makes the span of a request a child of the span of its client. An exporter implements it; the gateway knows none.
pub trait TraceParent: fmt::Debug + Send + Sync + 'static {
    /// Sets the parent of a span that has just been created.
    fn set_parent(&self, span: &Span, parent: &TraceHeaders);
}
