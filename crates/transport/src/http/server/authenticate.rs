//! Authentication of HTTP requests: the caller of a request, or a rejection with a `WWW-Authenticate` challenge.

use http::header::WWW_AUTHENTICATE;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::Caller;

use crate::http::server::reply::{self, Reply};

/// Authenticates requests. A function of the request head is enough; an authenticator that has to wait, for keys or
/// for an authorization server, implements the trait.
///
/// ```
/// use switchboard::server::{AuthRejection, Caller, HttpServerOptions};
///
/// // A function of the request head is an authenticator.
/// fn bearer(head: &http::request::Parts) -> Result<Option<Caller>, AuthRejection> {
///     match head.headers.get("authorization").map(|value| value.as_bytes()) {
///         Some(b"Bearer secret-of-ada") => Ok(Some(Caller::new("ada"))),
///         Some(_) => Err(AuthRejection::invalid_token()),
///         None => Err(AuthRejection::no_token()),
///     }
/// }
///
/// let options = HttpServerOptions::default().with_authenticate(bearer);
/// assert!(options.authenticate.is_some());
/// ```
pub trait Authenticate: Send + Sync + 'static {
    /// Returns the caller of a request, or `None` to admit it anonymously.
    fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Option<Caller>, AuthRejection>>;
}

impl<F> Authenticate for F
where
    F: Fn(&Parts) -> Result<Option<Caller>, AuthRejection> + Send + Sync + 'static,
{
    fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Option<Caller>, AuthRejection>> {
        let decision = self(head);
        Box::pin(async { decision })
    }
}

/// Why a request is not authorized. The reply carries the challenge of RFC 6750 and RFC 9728.
///
/// ```
/// use switchboard::server::AuthRejection;
///
/// let rejection = AuthRejection::insufficient_scope(["notes:write"]).with_description("The token may only read.");
/// assert_ne!(rejection, AuthRejection::invalid_token());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthRejection {
    kind: RejectionReason,
    scopes: Vec<String>,
    description: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RejectionReason {
    NoToken,
    InvalidToken,
    InsufficientScope,
    Malformed,
    Unavailable,
}

impl AuthRejection {
    fn new(kind: RejectionReason) -> Self {
        Self { kind, scopes: Vec::new(), description: None }
    }

    /// Rejects a request without a token: 401.
    pub fn no_token() -> Self {
        Self::new(RejectionReason::NoToken)
    }

    /// Rejects an invalid or expired token: 401.
    pub fn invalid_token() -> Self {
        Self::new(RejectionReason::InvalidToken)
    }

    /// Rejects a token that lacks at least one of these required scopes: 403.
    pub fn insufficient_scope(scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(RejectionReason::InsufficientScope).with_scopes(scopes)
    }

    /// Rejects credentials that cannot be parsed: 400.
    pub fn malformed() -> Self {
        Self::new(RejectionReason::Malformed)
    }

    /// Rejects a request whose token cannot be verified at the moment: 503.
    pub fn unavailable() -> Self {
        Self::new(RejectionReason::Unavailable)
    }

    /// Sets the scopes that a token needs.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets a description for developers. It is sent to the client.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    fn status(&self) -> StatusCode {
        match self.kind {
            RejectionReason::NoToken | RejectionReason::InvalidToken => StatusCode::UNAUTHORIZED,
            RejectionReason::InsufficientScope => StatusCode::FORBIDDEN,
            RejectionReason::Malformed => StatusCode::BAD_REQUEST,
            RejectionReason::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn error(&self) -> Option<&'static str> {
        match self.kind {
            // A request without credentials gets no error code (RFC 6750, 3.1).
            RejectionReason::NoToken | RejectionReason::Unavailable => None,
            RejectionReason::InvalidToken => Some("invalid_token"),
            RejectionReason::InsufficientScope => Some("insufficient_scope"),
            RejectionReason::Malformed => Some("invalid_request"),
        }
    }

    /// Returns the challenge; `metadata` is the URL of the protected resource metadata.
    fn challenge(&self, metadata: Option<&str>) -> String {
        let scopes = (!self.scopes.is_empty()).then(|| self.scopes.join(" "));
        let mut text = String::from("Bearer");
        for (name, value) in [
            ("resource_metadata", metadata),
            ("error", self.error()),
            ("scope", scopes.as_deref()),
            ("error_description", self.description.as_deref()),
        ] {
            let Some(value) = value else { continue };
            text.push_str(if text.len() == "Bearer".len() { " " } else { ", " });
            text.push_str(name);
            text.push_str("=\"");
            // Only the characters that a quoted value may hold (RFC 6750, 3).
            text.extend(value.chars().map(|c| match c {
                '"' => '\'',
                '\\' => '/',
                ' '..='~' => c,
                _ => '?',
            }));
            text.push('"');
        }
        text
    }

    /// Returns the HTTP response for this rejection.
    pub(crate) fn reply(&self, metadata: Option<&str>) -> Reply {
        let reason = match self.kind {
            RejectionReason::NoToken => "authorization is needed: send a bearer token",
            RejectionReason::InvalidToken => "the token is not valid here, or no longer",
            RejectionReason::InsufficientScope => "the token does not allow this",
            RejectionReason::Malformed => "the authorization cannot be read",
            RejectionReason::Unavailable => {
                "it cannot be said now whether the token is valid; try again later"
            }
        };
        let reason = self.description.as_deref().unwrap_or(reason);
        let mut reply = reply::reject(self.status(), reason);
        if self.kind != RejectionReason::Unavailable {
            self.add_challenge(&mut reply, metadata);
        }
        reply
    }

    /// Adds the challenge header to a response.
    pub(crate) fn add_challenge(&self, reply: &mut Reply, metadata: Option<&str>) {
        if let Ok(challenge) = HeaderValue::from_str(&self.challenge(metadata)) {
            reply.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_says_what_to_do_about_it() {
        let metadata = Some("https://h/.well-known/oauth-protected-resource/mcp");
        for (rejection, metadata, status, challenge) in [
            (AuthRejection::no_token(), None, 401, "Bearer"),
            (
                AuthRejection::no_token().with_scopes(["a"]),
                metadata,
                401,
                r#"Bearer resource_metadata="https://h/.well-known/oauth-protected-resource/mcp", scope="a""#,
            ),
            (AuthRejection::invalid_token(), None, 401, r#"Bearer error="invalid_token""#),
            (
                AuthRejection::insufficient_scope(["a", "b"]).with_description("say \"b\"\r\nX: y"),
                None,
                403,
                r#"Bearer error="insufficient_scope", scope="a b", error_description="say 'b'??X: y""#,
            ),
            (AuthRejection::malformed(), None, 400, r#"Bearer error="invalid_request""#),
        ] {
            let reply = rejection.reply(metadata);
            assert_eq!(reply.status(), status);
            assert_eq!(reply.headers()[WWW_AUTHENTICATE], challenge);
        }
        let reply = AuthRejection::unavailable().reply(metadata);
        assert_eq!((reply.status().as_u16(), reply.headers().get(WWW_AUTHENTICATE)), (503, None));
    }
}
