//! Parameters and results that hold nothing but `_meta`.

use crate::setter::setters;
use crate::types::meta::Meta;
use crate::wire::wire;

/// The parameters of a method that takes none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptyParams {
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(EmptyParams: optional meta "_meta";);

/// The result of a method that only says "done".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptyResult {
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(EmptyResult: optional meta "_meta";);

impl EmptyParams {
    /// Without `_meta`.
    pub const fn new() -> Self {
        Self { meta: None }
    }
}

impl EmptyResult {
    /// Without `_meta`.
    pub const fn new() -> Self {
        Self { meta: None }
    }
}

setters!(EmptyParams: some with_meta meta Meta;);
setters!(EmptyResult: some with_meta meta Meta;);
