//! Properties of method and revision names, for both sides of a session.

use switchboard_protocol::Revision;

/// Returns whether the result of this method may require input.
pub(crate) fn may_require_input(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

/// Returns whether this revision has batches.
pub(crate) fn has_batches(revision: Revision) -> bool {
    revision == Revision::V2025_03_26
}

/// Returns whether a version is modern, known to us or not: versions are dates, so it is later than the last legacy one.
pub(crate) fn is_modern_name(version: &str) -> bool {
    version > Revision::LATEST_LEGACY.as_str()
}
