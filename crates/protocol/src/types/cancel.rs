//! Cancellation of a request.

use crate::jsonrpc::RequestId;
use crate::types::meta::Meta;
use crate::wire::wire;

/// The parameters of `notifications/cancelled`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CancelledParams {
    /// The id of the cancelled request. Always sent; 2025-11-25 allows peers to omit it.
    pub request_id: Option<RequestId>,
    /// The reason, for logs.
    pub reason: Option<String>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(CancelledParams:
    optional request_id "requestId";
    optional reason "reason", with_reason(String);
    optional meta "_meta", with_meta(Meta);
);

impl CancelledParams {
    /// Cancels the request with this id.
    pub fn new(request: RequestId) -> Self {
        Self { request_id: Some(request), reason: None, meta: None }
    }
}
