//! Authorizers, which provide credentials: the trait, a fixed token, and none.
//!
//! Invariants: credentials travel in a header value marked sensitive; an authorizer receives the challenges of a
//! rejected request, and decides whether to retry. Knows no OAuth: flows live behind the trait.

use std::fmt;
use std::future::ready;
use std::pin::Pin;

use http::StatusCode;
use http::header::HeaderValue;
use zeroize::Zeroizing;

use crate::challenge::Challenge;
use crate::secret::Secret;
use crate::source::ErrorSource;
use crate::url::Address;

/// A future behind a pointer, so that [`Authorizer`] can be a `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Provides the credentials of requests.
///
/// # Cancellation
/// Both futures may be dropped at any point; what they began must go on or be undone by the authorizer itself.
pub trait Authorizer: Send + Sync + fmt::Debug {
    /// Returns the value of `Authorization` for a request to this address, if any.
    ///
    /// # Errors
    /// When there are no credentials and there should be; the request is then not sent.
    fn authorize<'a>(
        &'a self,
        address: &'a Address,
    ) -> BoxFuture<'a, Result<Option<HeaderValue>, AuthorizeError>>;

    /// Handles a response with status 401 or 403, and decides whether to authorize and send it again.
    ///
    /// # Errors
    /// When new credentials were needed and could not be obtained.
    fn handle_unauthorized<'a>(
        &'a self,
        response: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>>;
}

/// A response with status 401 or 403.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct UnauthorizedResponse<'a> {
    /// Where the request went.
    pub address: &'a Address,
    /// 401 or 403.
    pub status: StatusCode,
    /// The challenges of the server, in its order; may be empty.
    pub challenges: &'a [Challenge],
    /// The `Authorization` value that was sent; another request may have renewed it since.
    pub sent: Option<&'a HeaderValue>,
}

impl<'a> UnauthorizedResponse<'a> {
    /// Returns the response to a request that carried no credentials.
    pub fn new(address: &'a Address, status: StatusCode, challenges: &'a [Challenge]) -> Self {
        Self { address, status, challenges, sent: None }
    }

    /// Sets the `Authorization` value that was sent.
    #[must_use]
    pub fn with_sent(mut self, sent: Option<&'a HeaderValue>) -> Self {
        self.sent = sent;
        self
    }
}

/// Whether to retry a request that was answered with 401 or 403.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Send it once more.
    Again,
    /// Return the response as it is.
    GiveUp,
}

/// The error of an authorizer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizeError {
    /// The user has to log in first.
    #[error("a login is needed")]
    NeedsLogin,
    /// Obtaining credentials failed.
    #[error("no credentials: {what}")]
    Failed {
        /// The step that failed, for display.
        what: String,
        /// The underlying error.
        source: Option<ErrorSource>,
    },
}

impl AuthorizeError {
    /// Obtaining credentials failed.
    pub fn failed(what: impl Into<String>) -> Self {
        Self::Failed { what: what.into(), source: None }
    }
}

/// An authorizer without credentials.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAuth;

impl Authorizer for NoAuth {
    fn authorize<'a>(&'a self, _: &'a Address) -> BoxFuture<'a, Result<Option<HeaderValue>, AuthorizeError>> {
        Box::pin(ready(Ok(None)))
    }

    fn handle_unauthorized<'a>(
        &'a self,
        _: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(ready(Ok(Retry::GiveUp)))
    }
}

/// An authorizer with a fixed bearer token.
#[derive(Clone)]
pub struct Bearer {
    value: HeaderValue,
}

impl Bearer {
    /// Sends this token.
    ///
    /// # Errors
    /// When it holds anything but the characters of a token (RFC 6750, 2.1).
    pub fn new(token: &Secret) -> Result<Self, AuthorizeError> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        let text = token.expose();
        if text.is_empty() || !text.bytes().all(fits) {
            return Err(AuthorizeError::failed(
                "the bearer token is empty or holds a character no token has",
            ));
        }
        let text = Zeroizing::new(format!("Bearer {text}"));
        let mut value = HeaderValue::from_str(&text).expect("a token is visible ASCII");
        value.set_sensitive(true);
        Ok(Self { value })
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer(••••)")
    }
}

impl Authorizer for Bearer {
    fn authorize<'a>(&'a self, _: &'a Address) -> BoxFuture<'a, Result<Option<HeaderValue>, AuthorizeError>> {
        Box::pin(ready(Ok(Some(self.value.clone()))))
    }

    fn handle_unauthorized<'a>(
        &'a self,
        _: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(ready(Ok(Retry::GiveUp)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_with_other_characters_is_refused() {
        for token in ["", "a b", "a\r\nX: y", "ä", "a,b"] {
            assert!(Bearer::new(&Secret::new(token)).is_err(), "{token:?}");
        }
        let bearer = Bearer::new(&Secret::new("abc-._~+/=")).unwrap();
        assert_eq!(format!("{bearer:?} {:?}", bearer.value), "Bearer(••••) Sensitive");
    }
}
