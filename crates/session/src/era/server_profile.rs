//! The data of a server that the era layer needs: info, capabilities, revisions, opening policy.

use std::sync::Arc;

use switchboard_protocol::{CacheHints, Implementation, Raw, ServerCapabilities};

use crate::era::{OpeningPolicy, RevisionPolicy, StateKeys, UsedStates};
use crate::request::Caller;

/// The instructions of a server.
#[derive(Clone)]
pub(crate) enum Instructions {
    Fixed(Option<String>),
    /// Computed for every client that asks, by its caller.
    Computed(Arc<ComputeInstructions>),
}

/// Computes the instructions for a caller.
type ComputeInstructions = dyn Fn(Option<&Caller>) -> Option<String> + Send + Sync;

impl Instructions {
    /// Returns the current instructions for a caller.
    pub(crate) fn get(&self, caller: Option<&Caller>) -> Option<String> {
        match self {
            Self::Fixed(text) => text.clone(),
            Self::Computed(compute) => compute(caller),
        }
    }
}

/// Computes the capabilities that are advertised to a caller; `None` for all of them.
pub(crate) type ComputeCapabilities = dyn Fn(Option<&Caller>) -> Option<ServerCapabilities> + Send + Sync;

/// A server as data, without its handler and connections.
pub(crate) struct ServerProfile {
    pub(crate) info: Implementation,
    /// The same, encoded.
    pub(crate) info_text: Raw,
    /// The encoded `_meta` member with the server info, appended to results.
    pub(crate) signature: String,
    pub(crate) capabilities: ServerCapabilities,
    /// Which of them are advertised to a caller, if not all.
    pub(crate) advertised_capabilities: Option<Arc<ComputeCapabilities>>,
    pub(crate) instructions: Instructions,
    pub(crate) revisions: RevisionPolicy,
    pub(crate) opening: OpeningPolicy,
    /// The default cache hints for lists and resources.
    pub(crate) hints: CacheHints,
    pub(crate) state_keys: StateKeys,
    pub(crate) used_states: UsedStates,
}

impl ServerProfile {
    /// Returns the capabilities that are advertised to a caller.
    pub(crate) fn capabilities_for(&self, caller: Option<&Caller>) -> ServerCapabilities {
        let advertised = self.advertised_capabilities.as_ref().and_then(|compute| compute(caller));
        advertised.unwrap_or_else(|| self.capabilities.clone())
    }
}
