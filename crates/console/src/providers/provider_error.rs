//! Error of a provider: what failed, and what to do.

use http::StatusCode;

use crate::contract::ApiError;

/// Why a provider cannot do what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProviderErrorKind {
    /// The request is not valid.
    Invalid,
    /// The console must not do this.
    Forbidden,
    /// The item does not exist.
    NotFound,
    /// The item exists already, or the operation is running.
    Conflict,
    /// The operation failed.
    Failed,
}

/// Error of a provider. Its texts hold no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderError {
    /// Decides the status of the response.
    pub kind: ProviderErrorKind,
    /// The word for programs, such as `invalid_server`.
    pub code: &'static str,
    /// What failed, with the value.
    pub message: String,
    /// What to do.
    pub next_step: Option<String>,
}

impl ProviderError {
    /// Creates an error without a next step.
    pub fn new(kind: ProviderErrorKind, code: &'static str, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), next_step: None }
    }

    /// Sets what to do.
    #[must_use]
    pub fn with_next_step(mut self, next_step: impl Into<String>) -> Self {
        self.next_step = Some(next_step.into());
        self
    }
}

impl std::fmt::Display for ProviderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        match &self.next_step {
            Some(next_step) => write!(f, "\n{next_step}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ProviderError {}

impl From<ProviderError> for ApiError {
    fn from(error: ProviderError) -> Self {
        let ProviderError { kind, code, message, next_step } = error;
        let status = match kind {
            ProviderErrorKind::Invalid => StatusCode::BAD_REQUEST,
            ProviderErrorKind::Forbidden => StatusCode::FORBIDDEN,
            ProviderErrorKind::NotFound => StatusCode::NOT_FOUND,
            ProviderErrorKind::Conflict => StatusCode::CONFLICT,
            ProviderErrorKind::Failed => StatusCode::BAD_GATEWAY,
        };
        Self { next_step, ..Self::new(status, code, message) }
    }
}
