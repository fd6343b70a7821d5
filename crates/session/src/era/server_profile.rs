//! What the seam has to know of a server: who it is, what it offers, which revisions it speaks and how it opens.

use switchboard_protocol::{CacheHints, Implementation, Raw, ServerCapabilities};

use crate::era::{OpeningPolicy, RevisionPolicy, StateKeys, UsedStates};

/// A server as the seam sees it: data alone, with no handler and no connection.
pub(crate) struct ServerProfile {
    pub(crate) info: Implementation,
    /// The same as text.
    pub(crate) info_text: Raw,
    /// The `_meta` that says who answers, as a member of a result.
    pub(crate) signature: String,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) instructions: Option<String>,
    pub(crate) revisions: RevisionPolicy,
    pub(crate) opening: OpeningPolicy,
    /// How long clients may keep lists and resources that do not say so themselves.
    pub(crate) hints: CacheHints,
    pub(crate) state_keys: StateKeys,
    pub(crate) used_states: UsedStates,
}
