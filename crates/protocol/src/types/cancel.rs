//! Taking a request back.

use crate::jsonrpc::RequestId;
use crate::setter::setters;
use crate::types::meta::Meta;
use crate::wire::wire;

/// Which request is no longer wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CancelledParams {
    /// The request. We always name it; 2025-11-25 allows others not to.
    pub request_id: Option<RequestId>,
    /// Why, for logs.
    pub reason: Option<String>,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(CancelledParams:
    optional request_id "requestId";
    optional reason "reason";
    optional meta "_meta";
);

impl CancelledParams {
    /// Takes this request back.
    pub fn new(request: RequestId) -> Self {
        Self { request_id: Some(request), reason: None, meta: None }
    }
}

setters!(CancelledParams: some with_reason reason String; some with_meta meta Meta;);
