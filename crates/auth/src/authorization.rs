//! Authorization requests and their callbacks: PKCE, `state`, and the checks before a code is used.
//!
//! Invariants: issuer, verifier, `state` and redirect URI of a request are kept together and used once. A callback is
//! trusted only after `state` and `iss` were checked; until then none of its values is shown or used.

use std::fmt;

use http::HeaderMap;
use subtle::ConstantTimeEq;
use switchboard_http::Secret;

use crate::error::{AuthError, CallbackError, OAuthError};
use crate::form::{Form, parameter};
use crate::metadata::ServerMetadata;
use crate::random::{random_token, sha256};
use crate::scope::{OFFLINE_ACCESS, Scopes};
use crate::sent_secrets::SentSecrets;

/// An authorization request that waits for its callback.
pub struct AuthorizationRequest {
    url: String,
    redirect_uri: String,
    issuer: String,
    requires_issuer: bool,
    state: Secret,
    verifier: Secret,
}

/// The values of an authorization request.
pub(crate) struct AuthorizationParameters<'a> {
    pub(crate) client_id: &'a str,
    pub(crate) redirect_uri: &'a str,
    pub(crate) scopes: &'a Scopes,
    pub(crate) resource: Option<&'a str>,
    /// Further parameters of the user's configuration.
    pub(crate) extra: &'a [(String, String)],
    /// The thumbprint of the key that the tokens will be bound to.
    pub(crate) dpop_thumbprint: Option<&'a str>,
}

impl AuthorizationRequest {
    /// Creates a request with a fresh `state` and PKCE verifier.
    pub(crate) fn new(
        server: &ServerMetadata,
        endpoint: &str,
        parameters: &AuthorizationParameters<'_>,
    ) -> Self {
        let (state, verifier) = (random_token(), random_token());
        let mut query = Form::default();
        query.add("response_type", "code");
        query.add("client_id", parameters.client_id);
        query.add("redirect_uri", parameters.redirect_uri);
        query.add("state", state.expose());
        query.add("code_challenge", &sha256(verifier.expose()));
        query.add("code_challenge_method", "S256");
        query.add_optional("scope", Some(&parameters.scopes.to_string()));
        query.add_optional("resource", parameters.resource);
        query.add_optional("dpop_jkt", parameters.dpop_thumbprint);
        let has_prompt = parameters.extra.iter().any(|(name, _)| name == "prompt");
        if parameters.scopes.contains(OFFLINE_ACCESS) && !has_prompt {
            // OpenID Connect servers grant offline access only after consent.
            query.add("prompt", "consent");
        }
        for (name, value) in parameters.extra {
            query.add(name, value);
        }
        Self {
            url: query.append_to(endpoint),
            redirect_uri: parameters.redirect_uri.to_owned(),
            issuer: server.issuer.clone(),
            requires_issuer: server.authorization_response_iss_parameter_supported,
            state,
            verifier,
        }
    }

    /// Returns the URL to open in a browser.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the redirect URI.
    pub fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    pub(crate) fn verifier(&self) -> &Secret {
        &self.verifier
    }

    /// Checks a callback and returns its code.
    ///
    /// `callback` is the URL to which the browser was sent, or its query.
    ///
    /// # Errors
    /// When the callback belongs to another request or server, or reports an error.
    pub(crate) fn check_callback(&self, callback: &str) -> Result<Secret, AuthError> {
        let query = callback.split_once('?').map_or(callback, |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        let state = parameter(query, "state").ok_or(CallbackError::Incomplete("state"))?;
        if !bool::from(state.as_bytes().ct_eq(self.state.expose().as_bytes())) {
            return Err(CallbackError::StateMismatch.into());
        }
        // Compared byte for byte: a normalized comparison is what mix-up attacks exploit (RFC 9207, 2.4).
        match parameter(query, "iss") {
            Some(issuer) if issuer != self.issuer => {
                return Err(CallbackError::IssuerMismatch { expected: self.issuer.clone() }.into());
            }
            None if self.requires_issuer => {
                return Err(CallbackError::IssuerMissing { expected: self.issuer.clone() }.into());
            }
            _ => {}
        }
        if let Some(code) = parameter(query, "error") {
            let sent =
                SentSecrets::of(self.url.split_once('?').map_or("", |(_, query)| query), &HeaderMap::new());
            let description = parameter(query, "error_description").map(|text| sent.mask(&text));
            return Err(
                CallbackError::Denied(OAuthError::new(&sent.mask(&code), description.as_deref())).into()
            );
        }
        let code = parameter(query, "code").filter(|code| !code.is_empty());
        Ok(Secret::new(code.ok_or(CallbackError::Incomplete("code"))?))
    }
}

impl fmt::Debug for AuthorizationRequest {
    /// Without the URL: its `state` is a secret of this login.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationRequest")
            .field("issuer", &self.issuer)
            .field("redirect_uri", &self.redirect_uri)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUER: &str = "https://as.example";

    fn request(requires_issuer: bool) -> AuthorizationRequest {
        let server = ServerMetadata {
            issuer: ISSUER.to_owned(),
            authorization_response_iss_parameter_supported: requires_issuer,
            ..ServerMetadata::default()
        };
        let parameters = AuthorizationParameters {
            client_id: "c 1",
            redirect_uri: "http://127.0.0.1:1234/callback",
            scopes: &Scopes::parse("a b"),
            resource: Some("https://h.example/mcp"),
            extra: &[("prompt".into(), "login".into())],
            dpop_thumbprint: None,
        };
        AuthorizationRequest::new(&server, "https://as.example/authorize?tenant=t", &parameters)
    }

    #[test]
    fn a_request_has_every_parameter() {
        let request = request(true);
        let (base, query) = request.url().split_once('?').unwrap();
        assert_eq!(base, "https://as.example/authorize");
        let value = |name| parameter(query, name).unwrap();
        for (name, expected) in [
            ("tenant", "t"),
            ("response_type", "code"),
            ("client_id", "c 1"),
            ("redirect_uri", "http://127.0.0.1:1234/callback"),
            ("scope", "a b"),
            ("resource", "https://h.example/mcp"),
            ("code_challenge_method", "S256"),
            ("prompt", "login"),
        ] {
            assert_eq!(value(name), expected);
        }
        assert_eq!(value("code_challenge"), sha256(request.verifier().expose()));
        assert!(!format!("{request:?}").contains(&value("state")));
    }

    #[test]
    fn a_callback_is_checked_before_anything_of_it_is_used() {
        let request = request(true);
        let state = request.state.expose();
        let check = |callback: String| request.check_callback(&callback);
        let code = check(format!(
            "http://127.0.0.1:1234/callback?code=c0de&state={state}&iss=https%3A%2F%2Fas.example"
        ));
        assert_eq!(code.unwrap().expose(), "c0de");
        // Its query alone, as pasted by a user.
        assert!(check(format!("code=c0de&state={state}&iss={ISSUER}")).is_ok());

        let callback_error = |callback| match check(callback).unwrap_err() {
            AuthError::Callback(error) => error,
            other => panic!("{other:?}"),
        };
        assert_eq!(callback_error("code=c0de&state=other".into()), CallbackError::StateMismatch);
        assert_eq!(callback_error("code=c0de".into()), CallbackError::Incomplete("state"));
        assert_eq!(
            callback_error(format!("code=c0de&state={state}")),
            CallbackError::IssuerMissing { expected: ISSUER.into() }
        );
        for wrong in ["https://evil.example", "https://as.example/", "https://AS.example", ""] {
            let error = callback_error(format!(
                "error=access_denied&error_description=evil&state={state}&iss={wrong}"
            ));
            assert_eq!(error, CallbackError::IssuerMismatch { expected: ISSUER.into() });
            assert!(!error.to_string().contains("evil"));
        }
        let denied = callback_error(format!("error=access_denied&state={state}&iss={ISSUER}"));
        assert_eq!(denied, CallbackError::Denied(OAuthError::new("access_denied", None)));
        let quoted = callback_error(format!(
            "error=invalid_request&error_description=unknown+state+{state}&state={state}&iss={ISSUER}"
        ));
        assert!(!quoted.to_string().contains(state), "{quoted}");
    }

    #[test]
    fn an_issuer_that_is_not_advertised_is_still_compared() {
        let request = request(false);
        let state = request.state.expose();
        assert!(request.check_callback(&format!("code=c0de&state={state}")).is_ok());
        assert!(
            request.check_callback(&format!("code=c0de&state={state}&iss=https://evil.example")).is_err()
        );
    }
}
