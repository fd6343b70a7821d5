//! The data of a server that the era layer needs: info, capabilities, revisions, opening policy.

use switchboard_protocol::{CacheHints, Implementation, Raw, ServerCapabilities};

use crate::era::{OpeningPolicy, RevisionPolicy, StateKeys, UsedStates};

/// A server as data, without its handler and connections.
pub(crate) struct ServerProfile {
    pub(crate) info: Implementation,
    /// The same, encoded.
    pub(crate) info_text: Raw,
    /// The encoded `_meta` member with the server info, appended to results.
    pub(crate) signature: String,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) instructions: Option<String>,
    pub(crate) revisions: RevisionPolicy,
    pub(crate) opening: OpeningPolicy,
    /// The default cache hints for lists and resources.
    pub(crate) hints: CacheHints,
    pub(crate) state_keys: StateKeys,
    pub(crate) used_states: UsedStates,
}
