//! Progress of a request that is still running.

use crate::jsonrpc::RequestId;
use crate::setter::setters;
use crate::types::meta::Meta;
use crate::wire::wire;

/// How far a request has come.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProgressParams {
    /// The token that the request carried in its `_meta`.
    pub progress_token: RequestId,
    /// How far; grows with each notification.
    pub progress: f64,
    /// How far it will go, when known.
    pub total: Option<f64>,
    /// What is being done (from 2025-03-26).
    pub message: Option<String>,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(ProgressParams:
    required progress_token "progressToken";
    required_number progress "progress";
    compact_number total "total";
    optional message "message";
    optional meta "_meta";
);

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
