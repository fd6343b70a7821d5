//! Who is let in: on whose behalf a request is made, or why it is refused and what the client can do about it.

use http::header::WWW_AUTHENTICATE;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::Caller;

use crate::http::server::guard::Turned;
use crate::http::server::reply::{self, Reply};

/// Tells callers apart. A function that looks at the head of a request does; one that must wait, for keys or for an
/// authorization server, implements the trait.
pub trait Authenticate: Send + Sync + 'static {
    /// On whose behalf a request is made; `None` for anybody, who is let in all the same.
    fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Option<Caller>, Refused>>;
}

impl<F> Authenticate for F
where
    F: Fn(&Parts) -> Result<Option<Caller>, Refused> + Send + Sync + 'static,
{
    fn authenticate<'a>(&'a self, head: &'a Parts) -> BoxFuture<'a, Result<Option<Caller>, Refused>> {
        let told = self(head);
        Box::pin(async { told })
    }
}

/// Why a request is not let in. The client is challenged to do something about it, as RFC 6750 and RFC 9728 have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    why: Why,
    scopes: Vec<String>,
    description: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    NoToken,
    InvalidToken,
    InsufficientScope,
    Malformed,
    Unavailable,
}

impl Refused {
    fn new(why: Why) -> Self {
        Self { why, scopes: Vec::new(), description: None }
    }

    /// It brings no token, and one is needed: 401.
    pub fn no_token() -> Self {
        Self::new(Why::NoToken)
    }

    /// Its token is not valid here, or no longer: 401.
    pub fn invalid_token() -> Self {
        Self::new(Why::InvalidToken)
    }

    /// Its token does not allow this; these scopes, all of them, would: 403.
    pub fn insufficient_scope(scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(Why::InsufficientScope).with_scopes(scopes)
    }

    /// What it brings cannot be read: 400.
    pub fn malformed() -> Self {
        Self::new(Why::Malformed)
    }

    /// Nobody can say now whether the token is valid: 503.
    pub fn unavailable() -> Self {
        Self::new(Why::Unavailable)
    }

    /// The scopes that a token needs here.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// What a developer should know. Clients see it.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    fn status(&self) -> StatusCode {
        match self.why {
            Why::NoToken | Why::InvalidToken => StatusCode::UNAUTHORIZED,
            Why::InsufficientScope => StatusCode::FORBIDDEN,
            Why::Malformed => StatusCode::BAD_REQUEST,
            Why::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn error(&self) -> Option<&'static str> {
        match self.why {
            // Who brings nothing has done nothing wrong (RFC 6750, 3.1).
            Why::NoToken | Why::Unavailable => None,
            Why::InvalidToken => Some("invalid_token"),
            Why::InsufficientScope => Some("insufficient_scope"),
            Why::Malformed => Some("invalid_request"),
        }
    }

    /// The challenge; `metadata` is where the metadata of the protected resource is.
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
            // Only what may stand between the quotes (RFC 6750, 3).
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

    /// The answer to a request that is not let in.
    pub(crate) fn reply(&self, metadata: Option<&str>) -> Reply {
        let reason = match self.why {
            Why::NoToken => "authorization is needed: send a bearer token",
            Why::InvalidToken => "the token is not valid here, or no longer",
            Why::InsufficientScope => "the token does not allow this",
            Why::Malformed => "the authorization cannot be read",
            Why::Unavailable => "it cannot be said now whether the token is valid; try again later",
        };
        let reason = self.description.as_deref().unwrap_or(reason);
        let mut reply = reply::turned(Turned::new(self.status(), reason));
        if self.why != Why::Unavailable {
            self.challenge_in(&mut reply, metadata);
        }
        reply
    }

    /// Adds the challenge to an answer.
    pub(crate) fn challenge_in(&self, reply: &mut Reply, metadata: Option<&str>) {
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
        for (refused, metadata, status, challenge) in [
            (Refused::no_token(), None, 401, "Bearer"),
            (
                Refused::no_token().with_scopes(["a"]),
                metadata,
                401,
                r#"Bearer resource_metadata="https://h/.well-known/oauth-protected-resource/mcp", scope="a""#,
            ),
            (Refused::invalid_token(), None, 401, r#"Bearer error="invalid_token""#),
            (
                Refused::insufficient_scope(["a", "b"]).with_description("say \"b\"\r\nX: y"),
                None,
                403,
                r#"Bearer error="insufficient_scope", scope="a b", error_description="say 'b'??X: y""#,
            ),
            (Refused::malformed(), None, 400, r#"Bearer error="invalid_request""#),
        ] {
            let reply = refused.reply(metadata);
            assert_eq!(reply.status(), status);
            assert_eq!(reply.headers()[WWW_AUTHENTICATE], challenge);
        }
        let reply = Refused::unavailable().reply(metadata);
        assert_eq!((reply.status().as_u16(), reply.headers().get(WWW_AUTHENTICATE)), (503, None));
    }
}
