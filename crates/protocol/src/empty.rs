//! Parameters and results that hold nothing but `_meta`.

use serde::{Deserialize, Serialize};

use crate::meta::Meta;
use crate::setter::setters;

/// The parameters of a method that takes none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmptyParams {
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// The result of a method that only says "done".
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmptyResult {
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

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
