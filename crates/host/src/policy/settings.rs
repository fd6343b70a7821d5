//! Settings for all calls of a host.

use std::sync::Arc;

use crate::policy::{CallPolicy, SpillPolicy};
use crate::validation::Validation;

/// Whether a call with an unknown outcome is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplayPolicy {
    /// Never.
    #[default]
    Never,
    /// Once, if the tool is annotated as read-only or idempotent. Only for trusted servers.
    Idempotent,
}

/// What happens to a call by a name that several servers use for a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AmbiguousNamePolicy {
    /// It is rejected with an error that names the servers: a server that is added later must not receive the calls of
    /// another.
    #[default]
    Refuse,
    /// The first server in configured order receives it.
    FirstServer,
}

/// How the spans of tool calls are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpanNames {
    /// `tools/call read_file`, as the OpenTelemetry conventions say.
    #[default]
    Method,
    /// `mcp.filesystem.read_file`: the server and the tool.
    ServerAndTool,
}

/// Provides the trace context of calls.
pub trait TraceContext: Send + Sync + 'static {
    /// Returns the current trace context. Called inside the span of the call.
    fn current(&self) -> Option<TraceHeaders>;
}

/// The headers of a W3C trace context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceHeaders {
    /// The value of `traceparent`.
    pub parent: String,
    /// The value of `tracestate`.
    pub state: Option<String>,
}

/// Settings for all calls of a host.
#[derive(Default)]
pub(crate) struct CallSettings {
    pub(crate) policy: Option<Arc<dyn CallPolicy>>,
    pub(crate) replay: ReplayPolicy,
    pub(crate) ambiguous: AmbiguousNamePolicy,
    pub(crate) validation: Validation,
    pub(crate) spill: Option<SpillPolicy>,
    pub(crate) trace: Option<Arc<dyn TraceContext>>,
    pub(crate) span_names: SpanNames,
}
