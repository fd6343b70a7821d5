//! HTTP error responses that are not JSON-RPC responses.

/// The server or a proxy rejected the request before it reached the service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("HTTP status {status}{}{text}", if .text.is_empty() { "" } else { ": " })]
#[non_exhaustive]
pub struct HttpStatusError {
    /// The HTTP status.
    pub status: u16,
    /// The start of the response body.
    pub text: String,
}

impl HttpStatusError {
    pub(crate) fn new(status: u16, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}
