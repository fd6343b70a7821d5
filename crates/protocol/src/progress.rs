//! Progress of a request that is still running.

use serde::{Deserialize, Serialize};

use crate::jsonrpc::RequestId;
use crate::meta::Meta;
use crate::setter::setters;

/// How far a request has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProgressParams {
    /// The token that the request carried in its `_meta`.
    pub progress_token: RequestId,
    /// How far; grows with each notification.
    #[serde(serialize_with = "crate::lenient::tidy")]
    pub progress: f64,
    /// How far it will go, when known.
    #[serde(default, skip_serializing_if = "Option::is_none", serialize_with = "crate::lenient::tidy_some")]
    pub total: Option<f64>,
    /// What is being done (from 2025-03-26).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ProgressParams {
    /// This far, under this token.
    pub fn new(token: RequestId, progress: f64) -> Self {
        Self { progress_token: token, progress, total: None, message: None, meta: None }
    }
}

setters!(ProgressParams:
    some with_total total f64;
    some with_message message String;
    some with_meta meta Meta;
);
