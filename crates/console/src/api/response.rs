//! A response of the API.

use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;

use crate::contract::ApiError;

/// A response of the API.
#[derive(Clone, Debug)]
pub(crate) struct ApiResponse {
    pub(crate) status: StatusCode,
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
}

impl ApiResponse {
    /// Returns JSON.
    ///
    /// # Errors
    /// `500 internal` if the value cannot be encoded.
    pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Result<Self, ApiError> {
        match serde_json::to_vec(value) {
            Ok(text) => Ok(Self { status, content_type: "application/json", body: text.into() }),
            Err(error) => {
                let message = format!("the response cannot be encoded: {error}");
                Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message))
            }
        }
    }

    /// Returns `200` with JSON.
    ///
    /// # Errors
    /// `500 internal` if the value cannot be encoded.
    pub(crate) fn ok(value: &impl Serialize) -> Result<Self, ApiError> {
        Self::json(StatusCode::OK, value)
    }

    /// Returns this status with `{}`.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { status, content_type: "application/json", body: Bytes::from_static(b"{}") }
    }

    /// Returns `202 {}`.
    pub(crate) fn accepted() -> Self {
        Self::empty(StatusCode::ACCEPTED)
    }

    /// Returns `200` with a file.
    pub(crate) fn bytes(body: impl Into<Bytes>) -> Self {
        Self { status: StatusCode::OK, content_type: "application/octet-stream", body: body.into() }
    }
}
