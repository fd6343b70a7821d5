//! Taking a request back.

use serde::{Deserialize, Serialize};

use crate::jsonrpc::RequestId;
use crate::meta::Meta;
use crate::setter::setters;

/// Which request is no longer wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CancelledParams {
    /// The request. We always name it; 2025-11-25 allows others not to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Why, for logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CancelledParams {
    /// Takes this request back.
    pub fn new(request: RequestId) -> Self {
        Self { request_id: Some(request), reason: None, meta: None }
    }
}

setters!(CancelledParams: some with_reason reason String; some with_meta meta Meta;);
