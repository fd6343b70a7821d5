//! Verification of opaque tokens by the introspection endpoint of the authorization server (RFC 7662).

use std::time::Duration;

use http::StatusCode;
use http::header::HeaderMap;
use serde::Deserialize;
use switchboard_http::{Address, VerifyError};
use tokio::sync::Semaphore;

use crate::client_auth::OAuthClient;
use crate::fetch::{Answer, Fetcher};
use crate::form::Form;
use crate::jws::unix_now;
use crate::metadata::ServerMetadata;
use crate::resource_server::claims::{CheckedClaims, ClaimsSource, ExpectedClaims};

/// How long an introspection may take, including the wait for its turn.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How many introspections run at a time: a flood of tokens does not become a flood for the authorization server.
const CONCURRENCY: usize = 32;

/// Verifies opaque tokens.
#[derive(Debug)]
pub(crate) struct IntrospectionVerifier {
    fetcher: Fetcher,
    endpoint: Address,
    client: OAuthClient,
    /// The metadata by which the client authenticates.
    server: ServerMetadata,
    expected: ExpectedClaims,
    turns: Semaphore,
}

impl IntrospectionVerifier {
    /// Returns the verifier of an endpoint.
    pub(crate) fn new(
        fetcher: Fetcher,
        endpoint: Address,
        client: OAuthClient,
        expected: ExpectedClaims,
    ) -> Self {
        let server = ServerMetadata { issuer: expected.issuer.clone(), ..ServerMetadata::default() };
        Self { fetcher, endpoint, client, server, expected, turns: Semaphore::new(CONCURRENCY) }
    }

    /// Verifies a token.
    ///
    /// # Errors
    /// When the token is not active, not for this server, or when the endpoint does not answer.
    pub(crate) async fn verify(&self, token: &str) -> Result<CheckedClaims, VerifyError> {
        #[derive(Deserialize)]
        struct Activity {
            active: bool,
        }
        let answer = match tokio::time::timeout(TIMEOUT, self.introspect(token)).await {
            Ok(answer) => answer?,
            Err(_) => return Err(VerifyError::unavailable("the introspection endpoint does not answer")),
        };
        let text = std::str::from_utf8(&answer.body).ok();
        let (Some(text), Ok(activity)) = (text, serde_json::from_slice::<Activity>(&answer.body)) else {
            return Err(VerifyError::unavailable("the answer of the introspection endpoint is malformed"));
        };
        if !activity.active {
            return Err(VerifyError::invalid("it is not active"));
        }
        self.expected.check(text, ClaimsSource::Introspection, unix_now())
    }

    async fn introspect(&self, token: &str) -> Result<Answer, VerifyError> {
        let failed = |error: crate::error::AuthError| {
            tracing::warn!(%error, "introspection failed");
            VerifyError::unavailable("the introspection endpoint cannot be called")
        };
        let _turn = self.turns.acquire().await.expect("the semaphore is never closed");
        let (mut form, mut headers) = (Form::default(), HeaderMap::new());
        form.add("token", token);
        form.add("token_type_hint", "access_token");
        self.client.authenticate(&self.server, &mut form, &mut headers).map_err(failed)?;
        let answer =
            self.fetcher.post_form(self.endpoint.clone(), form.finish(), headers).await.map_err(failed)?;
        if answer.status != StatusCode::OK {
            // Also 401: this server is not authorized to introspect, which says nothing about the token.
            tracing::warn!(
                status = answer.status.as_u16(),
                "the introspection endpoint rejected the request"
            );
            return Err(VerifyError::unavailable("the introspection endpoint rejected the request"));
        }
        Ok(answer)
    }
}
