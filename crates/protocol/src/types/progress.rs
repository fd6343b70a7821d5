//! Progress notifications of a running request.

use crate::jsonrpc::RequestId;
use crate::types::meta::Meta;
use crate::wire::wire;

/// The parameters of `notifications/progress`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ProgressParams {
    /// The progress token of the request.
    pub progress_token: RequestId,
    /// The progress so far; increases with each notification.
    pub progress: f64,
    /// The total, if known.
    pub total: Option<f64>,
    /// A message for the user (from 2025-03-26).
    pub message: Option<String>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ProgressParams:
    required progress_token "progressToken";
    required_number progress "progress";
    compact_number total "total", with_total(f64);
    optional message "message", with_message(String);
    optional meta "_meta", with_meta(Meta);
);

impl ProgressParams {
    /// Creates a progress notification.
    pub fn new(token: RequestId, progress: f64) -> Self {
        Self { progress_token: token, progress, total: None, message: None, meta: None }
    }
}
