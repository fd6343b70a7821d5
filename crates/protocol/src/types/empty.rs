//! Parameters and results without members other than `_meta`.

use crate::types::meta::Meta;
use crate::wire::wire;

/// The parameters of a method without parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptyParams {
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(EmptyParams: optional meta "_meta", with_meta(Meta););

/// The result of a method without a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptyResult {
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(EmptyResult: optional meta "_meta", with_meta(Meta););

impl EmptyParams {
    /// Creates the value without `_meta`.
    pub const fn new() -> Self {
        Self { meta: None }
    }
}

impl EmptyResult {
    /// Creates the value without `_meta`.
    pub const fn new() -> Self {
        Self { meta: None }
    }
}
