//! What holds for all calls of a host.

use std::sync::Arc;

use crate::policy::{CallPolicy, Spill};
use crate::validation::Validation;

/// Whether a call whose outcome is unknown is made again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replay {
    /// Never.
    #[default]
    Never,
    /// Once, if the tool says that it is read-only or idempotent. Only for servers whose word is trusted.
    Idempotent,
}

/// What happens to a call by a name that several servers have for a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AmbiguousNames {
    /// It is refused with an error that names the servers: a server that is added later must not take over the calls
    /// of another.
    #[default]
    Refuse,
    /// The first server in configured order answers.
    FirstServer,
}

/// Says which trace a call belongs to.
pub trait TraceContext: Send + Sync + 'static {
    /// The context of now. Asked inside the span of the call.
    fn current(&self) -> Option<Traced>;
}

/// A trace, in the words of W3C Trace Context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// `traceparent`.
    pub parent: String,
    /// `tracestate`.
    pub state: Option<String>,
}

/// What holds for all calls of a host.
#[derive(Default)]
pub(crate) struct CallSettings {
    pub(crate) policy: Option<Arc<dyn CallPolicy>>,
    pub(crate) replay: Replay,
    pub(crate) ambiguous: AmbiguousNames,
    pub(crate) validation: Validation,
    pub(crate) spill: Option<Spill>,
    pub(crate) trace: Option<Arc<dyn TraceContext>>,
}
