//! The error of every response that is not 2xx.

use http::StatusCode;
use serde::{Deserialize, Serialize};

/// The body of every response that is not 2xx.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiError {
    /// The status of the response.
    #[serde(skip)]
    pub status: StatusCode,
    /// A stable word, such as `key_expired`, `not_found`, `read_only`, `confirmation_required`, `invalid_arguments`.
    pub code: String,
    pub message: String,
    pub next_step: Option<String>,
}

impl ApiError {
    /// Creates an error without a next step.
    pub fn new(status: StatusCode, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { status, code: code.into(), message: message.into(), next_step: None }
    }

    /// Returns `400 code`.
    pub fn bad_request(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// Returns `404 code`.
    pub fn not_found(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    /// Returns `409 code`.
    pub fn conflict(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    /// Sets what to do.
    #[must_use]
    pub fn with_next_step(mut self, next_step: impl Into<String>) -> Self {
        self.next_step = Some(next_step.into());
        self
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        match &self.next_step {
            Some(next_step) => write!(f, "\n{next_step}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ApiError {}
