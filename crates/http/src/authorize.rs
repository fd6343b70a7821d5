//! Authorizers, which provide credentials: the trait, a fixed token, and none.
//!
//! Invariants: credentials travel in header values marked sensitive; an authorizer receives the headers and challenges of
//! a rejected request, and decides whether to retry. Knows no OAuth: flows live behind the trait.

use std::fmt;
use std::future::ready;

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use zeroize::Zeroizing;

use crate::boxed_future::BoxFuture;
use crate::challenge::Challenge;
use crate::secret::Secret;
use crate::source::ErrorSource;
use crate::url::Address;

/// Provides the credentials of requests.
///
/// # Cancellation
/// Both futures may be dropped at any point; what they began must go on or be undone by the authorizer itself.
pub trait Authorizer: Send + Sync + fmt::Debug {
    /// Returns the headers that authorize a request. Called for every attempt, so that proofs can be fresh.
    ///
    /// # Errors
    /// When there are no credentials and there should be; the request is then not sent.
    fn authorize<'a>(
        &'a self,
        target: RequestTarget<'a>,
    ) -> BoxFuture<'a, Result<Credentials, AuthorizeError>>;

    /// Handles a response with status 401, or 403 for insufficient scope, and decides whether to authorize the request
    /// and send it again. A request is sent at most [`MAX_AUTHORIZED_ATTEMPTS`] times.
    ///
    /// # Errors
    /// When new credentials were needed and could not be obtained.
    fn handle_unauthorized<'a>(
        &'a self,
        response: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>>;

    /// Observes every response: servers rotate nonces in its headers. Does nothing by default.
    fn observe_response(&self, target: RequestTarget<'_>, status: StatusCode, headers: &HeaderMap) {
        _ = (target, status, headers);
    }
}

/// The most times that one request is sent with new credentials.
pub const MAX_AUTHORIZED_ATTEMPTS: u32 = 4;

/// The method and the address of a request.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RequestTarget<'a> {
    /// The method.
    pub method: &'a Method,
    /// Where the request goes.
    pub address: &'a Address,
}

impl<'a> RequestTarget<'a> {
    /// Returns the target of a request.
    pub fn new(method: &'a Method, address: &'a Address) -> Self {
        Self { method, address }
    }
}

/// Headers that authorize one request. Values are marked sensitive and never printed.
///
/// ```
/// use http::header::{AUTHORIZATION, HeaderValue};
/// use switchboard::transport::http_client::Credentials;
///
/// let credentials = Credentials::none().with_header(AUTHORIZATION, HeaderValue::from_static("Bearer abc"));
/// assert_eq!(credentials.authorization().unwrap(), "Bearer abc");
/// assert_eq!(format!("{credentials:?}"), r#"Credentials(["authorization"])"#);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Credentials {
    /// Returns no credentials: the request is sent as it is.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.headers.push((name, value));
        self
    }

    /// Returns the headers.
    pub fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// Returns the value of `Authorization`.
    pub fn authorization(&self) -> Option<&HeaderValue> {
        self.headers.iter().find(|(name, _)| name == AUTHORIZATION).map(|(_, value)| value)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_tuple("Credentials").field(&names).finish()
    }
}

/// A response with status 401 or 403.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct UnauthorizedResponse<'a> {
    /// The request that was rejected.
    pub target: RequestTarget<'a>,
    /// 401 or 403.
    pub status: StatusCode,
    /// The headers of the response.
    pub headers: &'a HeaderMap,
    /// The challenges of the server, in its order; may be empty.
    pub challenges: &'a [Challenge],
    /// The credentials that were sent; another request may have renewed them since.
    pub sent: &'a Credentials,
    /// How often this request has been sent, from 1.
    pub attempt: u32,
}

impl<'a> UnauthorizedResponse<'a> {
    /// Returns the response to the first attempt of a request.
    pub fn new(
        target: RequestTarget<'a>,
        status: StatusCode,
        headers: &'a HeaderMap,
        challenges: &'a [Challenge],
        sent: &'a Credentials,
    ) -> Self {
        Self { target, status, headers, challenges, sent, attempt: 1 }
    }

    /// Sets how often the request has been sent.
    #[must_use]
    pub fn with_attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
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
    /// The authorization server does not register clients by itself: somebody has to register one there, and configure
    /// its id.
    #[error("the authorization server {issuer} does not register clients by itself")]
    NeedsClientRegistration {
        /// The issuer of the authorization server.
        issuer: String,
        /// The redirect URI to register; `None` for a client without users.
        redirect_uri: Option<String>,
    },
    /// An administrator denied access. A login of the user would not help.
    #[error("access is blocked by an administrator: {code}{}", parenthesized(.message))]
    BlockedByAdmin {
        /// The error code of the identity provider.
        code: String,
        /// Its reason, for people.
        message: Option<String>,
    },
    /// The user has several accounts at the server, and it is not clear which one is meant.
    #[error("the user has several accounts at this server: {}", accounts.join(", "))]
    AmbiguousAccount {
        /// The names of the accounts.
        accounts: Vec<String>,
    },
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

fn parenthesized(message: &Option<String>) -> String {
    message.as_ref().map(|message| format!(" ({message})")).unwrap_or_default()
}

/// An authorizer without credentials.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAuth;

impl Authorizer for NoAuth {
    fn authorize<'a>(&'a self, _: RequestTarget<'a>) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        Box::pin(ready(Ok(Credentials::none())))
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
    credentials: Credentials,
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
        let value = HeaderValue::from_str(&text).expect("a token is visible ASCII");
        Ok(Self { credentials: Credentials::none().with_header(AUTHORIZATION, value) })
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bearer(••••)")
    }
}

impl Authorizer for Bearer {
    fn authorize<'a>(&'a self, _: RequestTarget<'a>) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        Box::pin(ready(Ok(self.credentials.clone())))
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
        assert_eq!(
            format!("{bearer:?} {:?}", bearer.credentials.authorization().unwrap()),
            "Bearer(••••) Sensitive"
        );
    }
}
