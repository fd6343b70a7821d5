//! An answer over HTTP that is no answer of JSON-RPC.

/// The server, or something on the way to it, refused the request before it reached the service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("refused with status {status}{}{text}", if .text.is_empty() { "" } else { ": " })]
#[non_exhaustive]
pub struct Refused {
    /// The status over HTTP.
    pub status: u16,
    /// The beginning of what came with it.
    pub text: String,
}

impl Refused {
    pub(crate) fn new(status: u16, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}
