//! Roots: the folders a client says it works in. Information, not a fence.

use crate::setter::setters;
use crate::types::meta::Meta;
use crate::wire::wire;

/// A folder or file the client works in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Root {
    /// A `file:` URI.
    pub uri: String,
    /// Its name for people.
    pub name: Option<String>,
    /// Anything else (from 2025-06-18).
    pub meta: Option<Meta>,
}

wire!(Root:
    required uri "uri";
    optional name "name";
    optional meta "_meta";
);

impl Root {
    /// A root at a `file:` URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: None, meta: None }
    }
}

setters!(Root: some with_name name String; some with_meta meta Meta;);

/// Asks for the roots: nothing but `_meta`.
pub type ListRootsParams = crate::types::empty::EmptyParams;

/// The roots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The roots.
    pub roots: Vec<Root>,
    /// Anything else (until 2025-11-25).
    pub meta: Option<Meta>,
}

wire!(ListRootsResult: required roots "roots"; optional meta "_meta";);

impl ListRootsResult {
    /// These roots.
    pub fn new(roots: impl Into<Vec<Root>>) -> Self {
        Self { roots: roots.into(), meta: None }
    }
}

setters!(ListRootsResult: some with_meta meta Meta;);
