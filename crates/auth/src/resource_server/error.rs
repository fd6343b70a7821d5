//! Errors in the settings of a resource server.

use switchboard_http::{AddressError, HttpError};

/// Why a resource server cannot be built from its settings.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ResourceServerError {
    /// A configured URL cannot be used.
    #[error("the {what} {url:?} cannot be used: {reason}")]
    Url {
        /// The setting.
        what: &'static str,
        /// The URL.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// No token could ever be valid.
    #[error("the resource server accepts no tokens: set `issuer` or `api_keys`")]
    NoTokens,
    /// Opaque tokens need an issuer, so that clients know where to log in.
    #[error("introspection needs an issuer: set `issuer`, so that clients know where to log in")]
    NoIssuer,
    /// No signature algorithm is allowed.
    #[error("no signature algorithm is allowed: leave out `algorithms` to allow all that are secure")]
    NoAlgorithm,
    /// The file of API keys cannot be read.
    #[error(
        "the API keys in {path} cannot be read: {reason}\ncreate the file with `switchboard key create NAME --file {path}`"
    )]
    ApiKeys {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The HTTP client cannot be set up.
    #[error(transparent)]
    Http(#[from] HttpError),
}

impl ResourceServerError {
    pub(crate) fn url(what: &'static str, url: &str, error: &AddressError) -> Self {
        Self::Url { what, url: url.to_owned(), reason: error.to_string() }
    }
}
