//! Token requests and their answers.
//!
//! Invariants: client authentication, `resource` and scope go into every request; an answer without `expires_in` has no
//! known expiry; an answer without a refresh token keeps the old one.

use std::fmt;
use std::time::{Duration, SystemTime};

use http::Method;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use switchboard_http::{Address, HttpError, Secret, TimeoutPhase};

use crate::client_auth::OAuthClient;
use crate::dpop::DpopKey;
use crate::error::{AuthError, printable};
use crate::fetch::{Answer, Fetcher, TOKEN_TIMEOUT};
use crate::form::Form;
use crate::metadata::ServerMetadata;
use crate::scope::Scopes;
use crate::sizes::{MAX_ACCESS_TOKEN, MAX_REFRESH_TOKEN, MAX_SCOPES, check_size};

/// An answer of a token endpoint.
#[derive(Clone)]
#[non_exhaustive]
pub struct TokenResponse {
    /// The access token.
    pub access_token: Secret,
    /// How it is sent.
    pub kind: TokenKind,
    /// When it expires; `None` if the server does not say.
    pub expires_at: Option<SystemTime>,
    /// The refresh token.
    pub refresh_token: Option<Secret>,
    /// The granted scopes; `None` if they are the requested ones.
    pub scopes: Option<Scopes>,
    /// The type of an exchanged token (RFC 8693).
    pub issued_token_type: Option<String>,
}

/// How an access token is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TokenKind {
    /// `Authorization: Bearer`.
    Bearer,
    /// `Authorization: DPoP`, with a proof for each request.
    #[serde(rename = "DPoP")]
    Dpop,
}

/// A token endpoint and the client that calls it.
pub(crate) struct TokenEndpoint<'a> {
    pub(crate) fetcher: &'a Fetcher,
    pub(crate) server: &'a ServerMetadata,
    pub(crate) client: &'a OAuthClient,
    /// The key that tokens are bound to.
    pub(crate) dpop: Option<&'a DpopKey>,
    /// Whether a token that is not bound to the key is refused.
    pub(crate) is_dpop_required: bool,
}

impl TokenEndpoint<'_> {
    /// Requests an access token with a grant. The form holds what is particular to the grant.
    ///
    /// # Errors
    /// [`AuthError::TokenType`] if the token is not of the type that was requested.
    pub(crate) async fn request(&self, form: Form) -> Result<TokenResponse, AuthError> {
        let (answer, decoded) = self.request_any(form).await?;
        let kind = self.check_type(decoded.token_type.as_deref(), answer.url())?;
        decoded.into_response(kind, SystemTime::now())
    }

    /// Exchanges a token for one that is not an access token, so its type says nothing (RFC 8693, section 2.2.1).
    pub(crate) async fn exchange(&self, form: Form) -> Result<TokenResponse, AuthError> {
        let (_, decoded) = self.request_any(form).await?;
        decoded.into_response(TokenKind::Bearer, SystemTime::now())
    }

    /// Checks the type of a token (RFC 6749, section 7.1). A server that names none issues bearer tokens.
    fn check_type(&self, found: Option<&str>, url: &str) -> Result<TokenKind, AuthError> {
        let found = found.unwrap_or("Bearer");
        if found.eq_ignore_ascii_case("bearer") && !self.is_dpop_required {
            return Ok(TokenKind::Bearer);
        }
        // Only a server that has seen a proof can have bound the token to its key.
        if found.eq_ignore_ascii_case("dpop") && self.dpop.is_some() {
            return Ok(TokenKind::Dpop);
        }
        Err(AuthError::TokenType {
            url: url.to_owned(),
            found: printable(found),
            expected: if self.is_dpop_required { "DPoP" } else { "Bearer" },
        })
    }

    /// Sends a token request. All of it, a second request for a nonce included, ends within [`TOKEN_TIMEOUT`]: others may wait
    /// for the lock of the grant.
    async fn request_any(&self, form: Form) -> Result<(Answer, TokenAnswer), AuthError> {
        match tokio::time::timeout(TOKEN_TIMEOUT, self.send(form)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(HttpError::Timeout { phase: TimeoutPhase::Body, after: TOKEN_TIMEOUT }.into()),
        }
    }

    async fn send(&self, mut form: Form) -> Result<(Answer, TokenAnswer), AuthError> {
        let url = self.server.token_endpoint.as_deref().ok_or_else(|| AuthError::NoEndpoint {
            issuer: self.server.issuer.clone(),
            endpoint: "token endpoint",
        })?;
        let address = self.fetcher.check("token endpoint", url)?;
        let mut headers = HeaderMap::new();
        self.client.authenticate(self.server, &mut form, &mut headers)?;
        let form = form.finish();
        let answer = self.post(&address, &form, headers.clone()).await?;
        // A server that wants a nonce says so with the first answer (RFC 9449, section 8).
        let answer = match (self.dpop, needs_nonce(&answer)) {
            (Some(_), true) => self.post(&address, &form, headers).await?,
            _ => answer,
        };
        let decoded = answer.decode()?;
        Ok((answer, decoded))
    }

    async fn post(&self, address: &Address, form: &str, mut headers: HeaderMap) -> Result<Answer, AuthError> {
        if let Some(dpop) = self.dpop {
            let proof = dpop.proof(&Method::POST, address, None)?;
            headers.insert(HeaderName::from_static("dpop"), sensitive(proof.expose())?);
        }
        let answer = self.fetcher.post_form(address.clone(), form.to_owned(), headers).await?;
        if let Some(dpop) = self.dpop {
            dpop.observe_nonce(address, &answer.headers);
        }
        Ok(answer)
    }
}

fn needs_nonce(answer: &Answer) -> bool {
    !answer.status.is_success() && answer.error().code() == Some("use_dpop_nonce")
}

/// Returns a header value that is not printed.
pub(crate) fn sensitive(text: &str) -> Result<HeaderValue, AuthError> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| AuthError::Key { what: "the token", reason: "it is not visible ASCII".to_owned() })?;
    value.set_sensitive(true);
    Ok(value)
}

/// The JSON of a successful answer.
#[derive(Deserialize)]
struct TokenAnswer {
    #[serde(deserialize_with = "token_text")]
    access_token: String,
    #[serde(default)]
    token_type: Option<String>,
    #[serde(default, deserialize_with = "seconds")]
    expires_in: Option<u64>,
    #[serde(default)]
    refresh_token: Option<String>,
    #[serde(default)]
    scope: Option<String>,
    #[serde(default)]
    issued_token_type: Option<String>,
}

impl TokenAnswer {
    fn into_response(self, kind: TokenKind, now: SystemTime) -> Result<TokenResponse, AuthError> {
        check_size("access token", &self.access_token, MAX_ACCESS_TOKEN)?;
        check_size("refresh token", self.refresh_token.as_deref().unwrap_or_default(), MAX_REFRESH_TOKEN)?;
        check_size("list of scopes", self.scope.as_deref().unwrap_or_default(), MAX_SCOPES)?;
        Ok(TokenResponse {
            access_token: Secret::new(self.access_token),
            kind,
            expires_at: self.expires_in.and_then(|seconds| now.checked_add(Duration::from_secs(seconds))),
            refresh_token: self.refresh_token.filter(|token| !token.is_empty()).map(Secret::new),
            scopes: self.scope.as_deref().map(Scopes::parse).filter(|scopes| !scopes.is_empty()),
            issued_token_type: self.issued_token_type.as_deref().map(printable),
        })
    }
}

/// Decodes a token that a header can carry (RFC 6750, section 2.1, taken liberally).
fn token_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let token = String::deserialize(deserializer)?;
    match !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(token),
        // Without the token, which would be printed.
        false => Err(D::Error::custom("not a token")),
    }
}

/// Decodes a number of seconds, which some servers write as a string or with a fraction.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Seconds {
        Number(f64),
        Text(String),
    }
    let seconds = match Option::<Seconds>::deserialize(deserializer)? {
        None => None,
        Some(Seconds::Number(number)) => Some(number),
        Some(Seconds::Text(text)) => text.trim().parse().ok(),
    };
    Ok(seconds.filter(|seconds| *seconds > 0.0).map(|seconds| seconds as u64))
}

impl fmt::Debug for TokenResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenResponse")
            .field("kind", &self.kind)
            .field("expires_at", &self.expires_at)
            .field("refresh_token", &self.refresh_token.as_ref().map(|_| "••••"))
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_leniently() {
        let now = SystemTime::UNIX_EPOCH;
        let read = |text: &str| {
            let answer = serde_json::from_str::<TokenAnswer>(text).unwrap();
            answer.into_response(TokenKind::Bearer, now).unwrap()
        };
        let full = read(
            r#"{"access_token":"a","token_type":"bearer","expires_in":3600,"refresh_token":"r","scope":"x y","id_token":"i"}"#,
        );
        assert_eq!(full.expires_at, Some(now + Duration::from_secs(3600)));
        assert_eq!(full.scopes.unwrap().to_string(), "x y");
        for (text, expected) in [
            (r#"{"access_token":"a","expires_in":"60"}"#, Some(60)),
            (r#"{"access_token":"a","expires_in":59.5}"#, Some(59)),
            (r#"{"access_token":"a","expires_in":null}"#, None),
            (r#"{"access_token":"a","expires_in":0}"#, None),
            (r#"{"access_token":"a","expires_in":-1}"#, None),
            (r#"{"access_token":"a"}"#, None),
            (r#"{"access_token":"a","expires_in":1e300}"#, None),
        ] {
            let expected = expected.map(|seconds| now + Duration::from_secs(seconds));
            assert_eq!(read(text).expires_at, expected, "{text}");
        }
        assert!(read(r#"{"access_token":"a","refresh_token":""}"#).refresh_token.is_none());
        assert!(
            !format!("{:?}", read(r#"{"access_token":"s3cret","refresh_token":"s3cret"}"#))
                .contains("s3cret")
        );
    }
}
