//! One request to a server, to see whether it wants a login or accepts a token.

use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{Method, StatusCode};
use switchboard::auth::{AuthError, MemoryStore, OAuthAuthorizer, OAuthOptions, StoredGrant, TokenStore};
use switchboard::protocol::Revision;
use switchboard::transport::http_client::{Address, Authorizer, Challenge, HttpClient, NoAuth, Request};

/// What a server answered.
#[derive(Debug, Clone)]
pub(crate) struct ProbeOutcome {
    pub(crate) status: StatusCode,
    /// The challenges of a server that refuses the request.
    pub(crate) challenges: Vec<Challenge>,
}

impl ProbeOutcome {
    /// Returns whether the server refused the request for its credentials.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
    }

    /// Returns whether the server wants a login: it says so, and how.
    pub(crate) fn wants_login(&self) -> bool {
        self.status == StatusCode::UNAUTHORIZED
    }
}

/// Sends the first request of a session without credentials.
///
/// # Errors
/// Returns an error if the server cannot be reached.
pub(crate) async fn probe(http: &HttpClient, server: &Address) -> Result<ProbeOutcome, AuthError> {
    probe_with(http, server, &NoAuth).await
}

/// Sends the first request of a session with a stored token, which is neither refreshed nor changed.
///
/// # Errors
/// Returns an error if the server cannot be reached.
pub(crate) async fn probe_token(
    http: &HttpClient,
    server: &Address,
    login: &StoredGrant,
) -> Result<ProbeOutcome, AuthError> {
    let authorizer = read_only_authorizer(http, server, login).await?;
    probe_with(http, server, &authorizer).await
}

/// Returns an authorizer that sends a stored token and cannot refresh it: it works on a copy without the refresh token.
///
/// # Errors
/// Returns an error if the copy cannot be kept.
pub(crate) async fn read_only_authorizer(
    http: &HttpClient,
    server: &Address,
    login: &StoredGrant,
) -> Result<OAuthAuthorizer, AuthError> {
    let store = MemoryStore::new();
    let mut grant = login.grant.clone();
    grant.refresh_token = None;
    store.compare_and_set(&login.key, None, Some(grant)).await?;
    let options = OAuthOptions::default().with_account(&login.key.account);
    Ok(OAuthAuthorizer::new(http.clone(), server.clone(), options).with_store(std::sync::Arc::new(store)))
}

async fn probe_with(
    http: &HttpClient,
    server: &Address,
    authorizer: &dyn Authorizer,
) -> Result<ProbeOutcome, AuthError> {
    let body = serde_json::json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": Revision::LATEST_LEGACY.as_str(),
            "capabilities": {},
            "clientInfo": { "name": "switchboard", "version": env!("CARGO_PKG_VERSION") },
        },
    });
    let request = Request::new(Method::POST, server.clone())
        .with_header(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"))
        .with_header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
        .with_body(body.to_string());
    let response = http.send_authorized(request, authorizer).await?;
    let challenges = Challenge::from_headers(&response.headers);
    Ok(ProbeOutcome { status: response.status, challenges })
}
