//! Roots: the directories that a client works in. Informational, not an access boundary.

use crate::types::meta::Meta;
use crate::wire::wire;

/// A directory or file that the client works in.
///
/// ```
/// use switchboard::protocol::Root;
///
/// let root = Root::new("file:///home/ada/project").with_name("project");
/// assert!(root.uri.starts_with("file://"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Root {
    /// A `file:` URI.
    pub uri: String,
    /// The display name.
    pub name: Option<String>,
    /// The `_meta` object (from 2025-06-18).
    pub meta: Option<Meta>,
}

wire!(Root:
    required uri "uri";
    optional name "name", with_name(String);
    optional meta "_meta", with_meta(Meta);
);

impl Root {
    /// Creates a root with a `file:` URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: None, meta: None }
    }
}

/// The parameters of `roots/list`: only `_meta`.
pub type ListRootsParams = crate::types::empty::EmptyParams;

/// The result of `roots/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The roots.
    pub roots: Vec<Root>,
    /// The `_meta` object (until 2025-11-25).
    pub meta: Option<Meta>,
}

wire!(ListRootsResult: required roots "roots"; optional meta "_meta", with_meta(Meta););

impl ListRootsResult {
    /// Creates a result.
    pub fn new(roots: impl Into<Vec<Root>>) -> Self {
        Self { roots: roots.into(), meta: None }
    }
}
