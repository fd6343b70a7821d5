//! Authentication by a token that a [`Verifier`] checks: a bearer token, or one with a proof of possession.
//!
//! Invariants: a token is taken from one `Authorization` header only, never from the query or the body; every rejection
//! names the scopes to ask for, so that a client can log in.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use http::header::AUTHORIZATION;
use http::request::Parts;
use parking_lot::Mutex;
use switchboard_http::{PresentedToken, TokenScheme, VerifiedCaller, Verifier, VerifyError};
use switchboard_protocol::Raw;
use switchboard_session::link::BoxFuture;
use switchboard_session::server::Caller;

use crate::http::server::authenticate::{AuthRejection, Authenticate};

/// Authenticates requests by their token.
pub(crate) struct BearerAuthenticator {
    verifier: Arc<dyn Verifier>,
    callers: CallerCache,
}

impl BearerAuthenticator {
    pub(crate) fn new(verifier: Arc<dyn Verifier>) -> Self {
        Self { verifier, callers: CallerCache::default() }
    }

    async fn verify(&self, head: &Parts) -> Result<Option<Arc<Caller>>, AuthRejection> {
        let dpop = self.verifier.protected_resource().and_then(|resource| resource.dpop.as_ref());
        let (scheme, token) = read_token(head, dpop.is_some())?;
        let presented = PresentedToken::new(token, &head.method, &head.headers);
        let presented = presented.with_path(head.uri.path()).with_scheme(scheme);
        match self.verifier.verify(presented).await {
            Ok(caller) => Ok(Some(self.callers.caller(caller))),
            Err(VerifyError::Unavailable { reason }) => {
                tracing::warn!(reason, "a token cannot be verified");
                Err(AuthRejection::unavailable())
            }
            Err(VerifyError::NonceRequired { nonce }) => Err(AuthRejection::nonce_required(nonce)),
            Err(error @ VerifyError::InvalidProof { .. }) => {
                Err(AuthRejection::invalid_proof().with_description(error.to_string()))
            }
            // Only now, because tokens are long: one that is valid is well formed.
            Err(_) if !is_token(token.as_bytes()) => {
                Err(AuthRejection::malformed().with_description("the token is malformed"))
            }
            Err(error) => Err(AuthRejection::invalid_token().with_description(error.to_string())),
        }
    }
}

impl Authenticate for BearerAuthenticator {
    fn authenticate<'a>(
        &'a self,
        head: &'a Parts,
    ) -> BoxFuture<'a, Result<Option<Arc<Caller>>, AuthRejection>> {
        Box::pin(async move {
            let scopes = || self.verifier.protected_resource().map_or(&[][..], |resource| &resource.scopes);
            self.verify(head).await.map_err(|rejection| rejection.with_scopes(scopes()))
        })
    }
}

/// The callers of verified tokens, so that the claims of a cached token are not parsed with every request.
#[derive(Default)]
struct CallerCache {
    // Held for a lookup.
    callers: Mutex<CallersByAddress>,
}

/// Callers by the address of the verified caller, which is kept, so that no other one has it.
type CallersByAddress = HashMap<usize, (Arc<VerifiedCaller>, Arc<Caller>), RandomState>;

/// The most callers that are cached.
const MAX_CALLERS: usize = 1024;

impl CallerCache {
    fn caller(&self, verified: Arc<VerifiedCaller>) -> Arc<Caller> {
        let address = Arc::as_ptr(&verified).addr();
        if let Some((_, caller)) = self.callers.lock().get(&address) {
            return Arc::clone(caller);
        }
        let caller = Arc::new(to_caller(&verified));
        // A verifier that makes a new caller for every request gains nothing, and must not fill the cache.
        if Arc::strong_count(&verified) > 1 {
            let mut callers = self.callers.lock();
            if callers.len() >= MAX_CALLERS {
                callers.clear();
            }
            callers.insert(address, (verified, Arc::clone(&caller)));
        }
        caller
    }
}

/// Returns the token of a request and its scheme.
fn read_token(head: &Parts, accepts_dpop: bool) -> Result<(TokenScheme, &str), AuthRejection> {
    let mut headers = head.headers.get_all(AUTHORIZATION).iter();
    let header = headers.next().ok_or_else(AuthRejection::no_token)?;
    if headers.next().is_some() {
        return Err(AuthRejection::malformed().with_description("two Authorization headers"));
    }
    let header = std::str::from_utf8(header.as_bytes()).map_err(|_| AuthRejection::malformed())?;
    let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
    let scheme = match scheme {
        scheme if scheme.eq_ignore_ascii_case("bearer") => TokenScheme::Bearer,
        scheme if accepts_dpop && scheme.eq_ignore_ascii_case("dpop") => TokenScheme::Dpop,
        _ => return Err(AuthRejection::no_token()),
    };
    let token = token.trim_matches(' ');
    if token.is_empty() {
        return Err(AuthRejection::malformed().with_description("the token is empty"));
    }
    Ok((scheme, token))
}

/// Returns whether all bytes are characters of a token (RFC 6750, 2.1). Without an early exit, so that it is compiled to
/// instructions for many bytes at a time: tokens are long.
fn is_token(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |fits, byte| {
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let is_other = (b'-'..=b'9').contains(byte) || matches!(byte, b'_' | b'~' | b'+' | b'=');
        fits & (is_letter | is_other)
    })
}

fn to_caller(verified: &VerifiedCaller) -> Caller {
    let mut caller = Caller::new(&verified.subject).with_scopes(&verified.scopes);
    caller.issuer.clone_from(&verified.issuer);
    caller.auth_method = verified.auth_method;
    match Raw::parse(verified.claims.as_str()) {
        Ok(claims) if claims.is_object() => caller.with_claims(claims),
        _ => caller,
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use http::{HeaderValue, Request};
    use switchboard_http::ProtectedResource;

    use super::*;
    use crate::http::server::authenticate::ChallengeContext;

    #[derive(Debug)]
    struct AdaOnly {
        resource: ProtectedResource,
    }

    impl Verifier for AdaOnly {
        fn verify<'a>(
            &'a self,
            presented: PresentedToken<'a>,
        ) -> BoxFuture<'a, Result<Arc<VerifiedCaller>, VerifyError>> {
            Box::pin(ready(match presented.token {
                "of-ada" => Ok(Arc::new(
                    VerifiedCaller::new("ada")
                        .with_issuer("https://i.example")
                        .with_scopes(["a"])
                        .with_claims(r#"{"client_id":"app"}"#),
                )),
                "slow" => Err(VerifyError::unavailable("no keys")),
                _ => Err(VerifyError::invalid("it has expired")),
            }))
        }

        fn protected_resource(&self) -> Option<&ProtectedResource> {
            Some(&self.resource)
        }
    }

    async fn authenticate(uri: &str, values: &[&[u8]]) -> Result<Option<Arc<Caller>>, AuthRejection> {
        let resource = ProtectedResource::new("https://h/meta", ["/meta"], "{}").with_scopes(["a", "b"]);
        let authenticator = BearerAuthenticator::new(Arc::new(AdaOnly { resource }));
        let mut request = Request::post(uri).body(()).unwrap();
        for value in values {
            request.headers_mut().append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
        }
        authenticator.authenticate(&request.into_parts().0).await
    }

    #[tokio::test]
    async fn a_valid_token_names_its_caller() {
        for value in ["Bearer of-ada", "bearer of-ada", "BEARER  of-ada "] {
            let caller = authenticate("/mcp", &[value.as_bytes()]).await.unwrap().unwrap();
            assert_eq!(
                (caller.subject.as_str(), caller.issuer.as_deref()),
                ("ada", Some("https://i.example"))
            );
            assert_eq!(caller.scopes, ["a"]);
            assert_eq!(caller.claims.as_str(), r#"{"client_id":"app"}"#);
        }
    }

    #[test]
    fn the_characters_of_tokens_are_those_of_the_rfc() {
        for byte in 0..=u8::MAX {
            let expected = byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
            assert_eq!(is_token(&[b'a', byte]), expected, "{byte}");
        }
    }

    #[test]
    fn the_caller_of_a_cached_token_is_made_once() {
        let callers = CallerCache::default();
        let kept = Arc::new(VerifiedCaller::new("ada"));
        for _ in 0..3 {
            assert_eq!(callers.caller(Arc::clone(&kept)).subject, "ada");
            assert_eq!(callers.caller(Arc::new(VerifiedCaller::new("other"))).subject, "other");
        }
        assert_eq!(callers.callers.lock().len(), 1);
        let many: Vec<_> =
            (0..3000).map(|number| Arc::new(VerifiedCaller::new(number.to_string()))).collect();
        for (number, verified) in many.iter().enumerate() {
            assert_eq!(callers.caller(Arc::clone(verified)).subject, number.to_string());
            assert!(callers.callers.lock().len() <= MAX_CALLERS);
        }
    }

    #[tokio::test]
    async fn every_other_request_is_rejected_with_the_scopes_to_ask_for() {
        let scopes = ["a", "b"];
        let no_token = AuthRejection::no_token().with_scopes(scopes);
        for (uri, values) in [
            ("/mcp", &[][..]),
            ("/mcp?access_token=of-ada", &[]),
            ("/mcp", &[&b"Basic of-ada"[..]]),
            ("/mcp", &[b"of-ada"]),
            ("/mcp", &[b"DPoP of-ada"]),
            ("/mcp", &[b""]),
        ] {
            assert_eq!(authenticate(uri, values).await.unwrap_err(), no_token, "{uri} {values:?}");
        }
        for values in [
            &[&b"Bearer"[..]][..],
            &[b"Bearer "],
            &[b"Bearer of ada"],
            &[b"Bearer \xff"],
            &[b"Bearer of-ada,x"],
        ] {
            assert_eq!(
                authenticate("/mcp", values).await.unwrap_err().reply(ChallengeContext::default()).status(),
                400,
                "{values:?}"
            );
        }
        let twice = authenticate("/mcp", &[b"Bearer of-ada", b"Bearer of-ada"]).await.unwrap_err();
        assert_eq!(twice.reply(ChallengeContext::default()).status(), 400);
        let invalid = authenticate("/mcp", &[b"Bearer x"]).await.unwrap_err();
        let challenge = r#"Bearer resource_metadata="https://h/meta", error="invalid_token", scope="a b", error_description="the token is not valid: it has expired""#;
        assert_eq!(
            invalid.reply(ChallengeContext { metadata: Some("https://h/meta"), dpop: None }).headers()["www-authenticate"],
            challenge
        );
        let slow = authenticate("/mcp", &[b"Bearer slow"]).await.unwrap_err();
        assert_eq!(slow.reply(ChallengeContext::default()).status(), 503);
    }
}
