//! The change of a tool's definition since it was pinned.

use crate::config::ConsentScreen;

/// The pinned and the current definition of a tool, for a consent screen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DefinitionChange {
    /// The pinned definition; `None` if only its digest was kept.
    pub before: Option<ConsentScreen>,
    /// The definition as it is listed now.
    pub now: ConsentScreen,
    /// The pinned definition as JSON in canonical form; `None` if only its digest was kept.
    pub before_json: Option<String>,
    /// The definition as it is listed now, as JSON in the same form.
    pub now_json: String,
}
