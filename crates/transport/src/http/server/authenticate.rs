//! Authentication of HTTP requests: the caller of a request, or a rejection with a `WWW-Authenticate` challenge.

use std::future::ready;
use std::sync::Arc;

use http::header::WWW_AUTHENTICATE;
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::Caller;

use switchboard_http::DpopSupport;

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
    /// Returns the caller of a request, or `None` to admit it anonymously. The caller is shared, so that an authenticator
    /// that caches it need not copy it for every request.
    fn authenticate<'a>(
        &'a self,
        head: &'a Parts,
    ) -> BoxFuture<'a, Result<Option<Arc<Caller>>, AuthRejection>>;
}

impl<F> Authenticate for F
where
    F: Fn(&Parts) -> Result<Option<Caller>, AuthRejection> + Send + Sync + 'static,
{
    fn authenticate<'a>(
        &'a self,
        head: &'a Parts,
    ) -> BoxFuture<'a, Result<Option<Arc<Caller>>, AuthRejection>> {
        let decision = self(head).map(|caller| caller.map(Arc::new));
        Box::pin(ready(decision))
    }
}

/// What all challenges of a server say.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChallengeContext<'a> {
    /// The URL of the protected resource metadata.
    pub(crate) metadata: Option<&'a str>,
    /// How proofs of possession are accepted.
    pub(crate) dpop: Option<&'a DpopSupport>,
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

#[derive(Debug, Clone, PartialEq, Eq)]
enum RejectionReason {
    NoToken,
    InvalidToken,
    InvalidProof,
    /// The proof needs this nonce.
    NonceRequired(String),
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

    /// Rejects a missing or invalid proof of possession (RFC 9449): 401.
    pub(crate) fn invalid_proof() -> Self {
        Self::new(RejectionReason::InvalidProof)
    }

    /// Rejects a proof of possession without this nonce: 401.
    pub(crate) fn nonce_required(nonce: String) -> Self {
        Self::new(RejectionReason::NonceRequired(nonce))
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
            RejectionReason::NoToken
            | RejectionReason::InvalidToken
            | RejectionReason::InvalidProof
            | RejectionReason::NonceRequired(_) => StatusCode::UNAUTHORIZED,
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
            RejectionReason::InvalidProof => Some("invalid_dpop_proof"),
            RejectionReason::NonceRequired(_) => Some("use_dpop_nonce"),
            RejectionReason::InsufficientScope => Some("insufficient_scope"),
            RejectionReason::Malformed => Some("invalid_request"),
        }
    }

    /// Returns the challenges: one for each scheme by which the token may be sent.
    fn challenges(&self, context: ChallengeContext<'_>) -> impl Iterator<Item = String> {
        let is_about_proof =
            matches!(self.kind, RejectionReason::InvalidProof | RejectionReason::NonceRequired(_));
        let bearer = !is_about_proof && context.dpop.is_none_or(|dpop| !dpop.is_required);
        let bearer = bearer.then(|| self.challenge("Bearer", context, None));
        let dpop = context.dpop.map(|dpop| self.challenge("DPoP", context, Some(&dpop.algorithms.join(" "))));
        bearer.into_iter().chain(dpop)
    }

    fn challenge(&self, scheme: &str, context: ChallengeContext<'_>, algorithms: Option<&str>) -> String {
        let scopes = (!self.scopes.is_empty()).then(|| self.scopes.join(" "));
        let mut text = scheme.to_owned();
        for (name, value) in [
            ("resource_metadata", context.metadata),
            ("algs", algorithms),
            ("error", self.error()),
            ("scope", scopes.as_deref()),
            ("error_description", self.description.as_deref()),
        ] {
            let Some(value) = value else { continue };
            text.push_str(if text.len() == scheme.len() { " " } else { ", " });
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
    pub(crate) fn reply(&self, context: ChallengeContext<'_>) -> Reply {
        let reason = match &self.kind {
            RejectionReason::NoToken => "authorization is needed: send a bearer token",
            RejectionReason::InvalidToken => "the token is not valid here, or no longer",
            RejectionReason::InvalidProof => "the DPoP proof is not valid",
            RejectionReason::NonceRequired(_) => "the DPoP proof needs the nonce of this response",
            RejectionReason::InsufficientScope => "the token does not allow this",
            RejectionReason::Malformed => "the authorization cannot be read",
            RejectionReason::Unavailable => {
                "it cannot be said now whether the token is valid; try again later"
            }
        };
        let reason = self.description.as_deref().unwrap_or(reason);
        let mut reply = reply::reject(self.status(), reason);
        if self.kind != RejectionReason::Unavailable {
            self.add_challenge(&mut reply, context);
        }
        if let RejectionReason::NonceRequired(nonce) = &self.kind
            && let Ok(nonce) = HeaderValue::from_str(nonce)
        {
            reply.headers_mut().insert("dpop-nonce", nonce);
        }
        reply
    }

    /// Adds the challenge headers to a response.
    pub(crate) fn add_challenge(&self, reply: &mut Reply, context: ChallengeContext<'_>) {
        let challenges = self.challenges(context).filter_map(|text| HeaderValue::from_str(&text).ok());
        challenges.for_each(|challenge| _ = reply.headers_mut().append(WWW_AUTHENTICATE, challenge));
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
            let reply = rejection.reply(ChallengeContext { metadata, dpop: None });
            assert_eq!(reply.status(), status);
            assert_eq!(reply.headers()[WWW_AUTHENTICATE], challenge);
        }
        let reply = AuthRejection::unavailable().reply(ChallengeContext { metadata, dpop: None });
        assert_eq!((reply.status().as_u16(), reply.headers().get(WWW_AUTHENTICATE)), (503, None));
    }

    #[test]
    fn proofs_of_possession_have_challenges_of_their_own() {
        let challenges = |rejection: AuthRejection, is_required| -> Vec<String> {
            let dpop = DpopSupport::new(["ES256", "EdDSA"], is_required);
            let reply =
                rejection.reply(ChallengeContext { metadata: Some("https://h/m"), dpop: Some(&dpop) });
            let values = reply.headers().get_all(WWW_AUTHENTICATE).iter();
            values.map(|value| value.to_str().unwrap().to_owned()).collect()
        };
        let bearer = r#"Bearer resource_metadata="https://h/m""#;
        let dpop = r#"DPoP resource_metadata="https://h/m", algs="ES256 EdDSA""#;
        assert_eq!(challenges(AuthRejection::no_token(), false), [bearer, dpop]);
        assert_eq!(challenges(AuthRejection::no_token(), true), [dpop]);
        let invalid = challenges(AuthRejection::invalid_proof(), false);
        assert_eq!(invalid, [format!(r#"{dpop}, error="invalid_dpop_proof""#)]);
        let support = DpopSupport::new(["ES256"], false);
        let context = ChallengeContext { metadata: None, dpop: Some(&support) };
        let reply = AuthRejection::nonce_required("n1".to_owned()).reply(context);
        assert_eq!((reply.status().as_u16(), reply.headers()["dpop-nonce"].as_bytes()), (401, &b"n1"[..]));
        assert_eq!(reply.headers()[WWW_AUTHENTICATE], r#"DPoP algs="ES256", error="use_dpop_nonce""#);
    }
}
