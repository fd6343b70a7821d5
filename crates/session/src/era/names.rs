//! What the names of methods and revisions say, on either side of a session.

use switchboard_protocol::Revision;

/// The methods whose result may be a question.
pub(crate) fn may_require_input(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

/// Whether an array of messages is a message in this revision.
pub(crate) fn has_batches(revision: Revision) -> bool {
    revision == Revision::V2025_03_26
}

/// Version names are dates, so those beyond the last legacy one are modern, known to us or not.
pub(crate) fn is_modern_name(version: &str) -> bool {
    version > Revision::LATEST_LEGACY.as_str()
}
