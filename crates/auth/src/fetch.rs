//! Requests to authorization servers: JSON documents and form posts, bounded in time and size.
//!
//! Invariants: every URL comes from a server and is checked before it is called: https, or http on this machine if the MCP
//! server itself is on this machine; the address that is connected to is no further inside than the MCP server and the URLs of
//! the configuration are (globally reachable, in a private network, on this machine); redirects stay at their origin; no
//! credentials but those of the client are sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use serde::de::DeserializeOwned;
use switchboard_http::{
    Address, AddressError, AddressPolicy, ConnectKind, HttpClient, HttpError, NetworkScope, PlainHttp,
    Request, TimeoutPhase, Timeouts,
};

use crate::error::{AuthError, OAuthError};
use crate::sent_secrets::SentSecrets;
use crate::sizes::{MAX_URL, check_size};

/// The largest document or answer that is read.
const MAX_DOCUMENT: usize = 1024 * 1024;
/// How long one exchange may take.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a token request may take: the server may already have rotated the token.
pub(crate) const TOKEN_TIMEOUT: Duration = Duration::from_secs(45);

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

/// Calls the endpoints of authorization servers.
#[derive(Debug, Clone)]
pub(crate) struct Fetcher {
    http: HttpClient,
    /// The MCP server, and what the user has configured. URLs that servers name lead no further inside.
    trusted: Vec<Address>,
    /// Whether a warning about the slash of an issuer was logged. Clones share it.
    has_warned: Arc<AtomicBool>,
}

/// A response: status, headers and body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    url: String,
    /// What must not be shown if the server quotes it.
    sent: SentSecrets,
}

impl Fetcher {
    /// Returns a fetcher for the authorization of this MCP server.
    pub(crate) fn new(http: HttpClient, server: &Address) -> Self {
        Self { http, trusted: vec![server.clone()], has_warned: Arc::default() }
    }

    /// Warns once that two documents write an issuer with and without its trailing slash.
    pub(crate) fn warn_about_slash(&self, listed: &str, document: &str) {
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(listed, document, "issuers differ by a trailing slash");
        }
    }

    /// Allows what this URL of the configuration makes necessary. One that cannot be called changes nothing.
    #[must_use]
    pub(crate) fn trusting(mut self, url: Option<&str>) -> Self {
        let address = url.and_then(|url| Address::parse(url, PlainHttp::LoopbackOnly).ok());
        self.trusted.extend(address);
        self
    }

    /// Returns a fetcher for a server of the configuration, which has nothing to do with the MCP server.
    pub(crate) fn for_configured(&self, url: &str) -> Self {
        Self { trusted: Vec::new(), ..self.clone() }.trusting(Some(url))
    }

    /// Returns which addresses may be connected to.
    async fn address_policy(&self) -> AddressPolicy {
        let mut widest = NetworkScope::Global;
        for address in &self.trusted {
            let scope = self.http.network_scope(address).await;
            if scope != NetworkScope::Special {
                widest = widest.max(scope);
            }
        }
        AddressPolicy::within(widest)
    }

    /// Checks a URL that a server named.
    pub(crate) fn check(&self, what: &'static str, url: &str) -> Result<Address, AuthError> {
        check_size(what, url, MAX_URL)?;
        let address = Address::parse(url, PlainHttp::LoopbackOnly)
            .map_err(|error| AuthError::forbidden(what, url, &error))?;
        if address.is_loopback() && !self.trusted.iter().any(Address::is_loopback) {
            let reason = "it is on this machine, and the MCP server is not".to_owned();
            return Err(AuthError::forbidden_because(what, url, reason));
        }
        Ok(address)
    }

    /// Gets a document.
    pub(crate) async fn get(&self, address: Address) -> Result<Answer, AuthError> {
        let request = Request::new(Method::GET, address).with_header(ACCEPT, JSON);
        self.exchange(request, EXCHANGE_TIMEOUT).await
    }

    /// Gets a metadata document.
    ///
    /// # Errors
    /// The reason in words: a document that cannot be used is one attempt of several.
    pub(crate) async fn get_metadata<T: DeserializeOwned>(
        &self,
        what: &'static str,
        url: &str,
    ) -> Result<T, String> {
        let address = self.check(what, url).map_err(|error| error.to_string())?;
        let answer = self.get(address).await.map_err(|error| error.to_string())?;
        if answer.status != StatusCode::OK {
            return Err(format!("status {}", answer.status.as_u16()));
        }
        answer.decode().map_err(|error| match error {
            AuthError::Malformed { reason, .. } => reason,
            other => other.to_string(),
        })
    }

    /// Posts a JSON document.
    pub(crate) async fn post_json(&self, address: Address, body: Vec<u8>) -> Result<Answer, AuthError> {
        let request = Request::new(Method::POST, address)
            .with_header(ACCEPT, JSON)
            .with_header(CONTENT_TYPE, JSON)
            .with_body(body);
        self.exchange(request, EXCHANGE_TIMEOUT).await
    }

    /// Posts a form with additional headers.
    pub(crate) async fn post_form(
        &self,
        address: Address,
        form: String,
        headers: HeaderMap,
    ) -> Result<Answer, AuthError> {
        let sent = SentSecrets::of(&form, &headers);
        let mut request = Request::new(Method::POST, address).with_body(form);
        request.headers = headers;
        request.headers.insert(ACCEPT, JSON);
        request.headers.insert(CONTENT_TYPE, FORM);
        let answer = self.exchange(request, TOKEN_TIMEOUT).await?;
        Ok(Answer { sent, ..answer })
    }

    async fn exchange(&self, request: Request, timeout: Duration) -> Result<Answer, AuthError> {
        let url = format!("{:?}", request.address);
        let timeouts = Timeouts::default().with_headers(Some(timeout)).with_idle(Some(timeout));
        let exchange = async {
            let policy = self.address_policy().await;
            let request = request.with_timeouts(timeouts).with_address_policy(policy);
            let response = self.http.send(request).await.map_err(|error| match error {
                HttpError::Connect { kind: ConnectKind::Forbidden, .. } => {
                    let reason =
                        "it leads to this machine or into a private network, and the MCP server is elsewhere\n\
                         if it belongs to your own authorization server, name that: `OAuthOptions::with_issuer`";
                    AuthError::forbidden_because("address", &url, reason.to_owned())
                }
                other => AuthError::from(other),
            })?;
            let (status, headers) = (response.status, response.headers);
            let body = response.body.collect(MAX_DOCUMENT).await?;
            Ok(Answer { status, headers, body, url, sent: SentSecrets::default() })
        };
        // Also a server that sends a byte now and then ends in time: others may wait for the lock of the grant.
        match tokio::time::timeout(timeout, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(HttpError::Timeout { phase: TimeoutPhase::Body, after: timeout }.into()),
        }
    }
}

impl Answer {
    /// Returns the URL without its query.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Decodes the body of a successful answer; otherwise returns the OAuth error in it.
    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Result<T, AuthError> {
        if !self.status.is_success() {
            return Err(self.error());
        }
        // A struct would also be read from an array of its members.
        if self.body.trim_ascii_start().first().is_some_and(|byte| *byte == b'[') {
            return Err(self.malformed_because("it is an array, not an object".to_owned()));
        }
        serde_json::from_slice(&self.body).map_err(|error| match self.error() {
            // Some servers send errors with status 200.
            found @ AuthError::Endpoint { .. } => found,
            _ => self.malformed(&error),
        })
    }

    /// Returns the OAuth error of an unsuccessful answer.
    pub(crate) fn error(&self) -> AuthError {
        #[derive(serde::Deserialize)]
        struct Body {
            error: String,
            error_description: Option<String>,
        }
        match serde_json::from_slice::<Body>(&self.body) {
            Ok(body) => AuthError::Endpoint {
                url: self.url.clone(),
                error: OAuthError::new(
                    &self.sent.mask(&body.error),
                    body.error_description.map(|text| self.sent.mask(&text)).as_deref(),
                ),
            },
            Err(error) => self.malformed(&error),
        }
    }

    /// Reports an unreadable body. Only the position of the error, because the body may hold a token.
    fn malformed(&self, error: &serde_json::Error) -> AuthError {
        let reason = match (self.body.is_empty(), error.is_data()) {
            (true, _) => "the body is empty".to_owned(),
            (false, true) => "a member is missing or of the wrong type".to_owned(),
            (false, false) => format!("error at line {} column {}", error.line(), error.column()),
        };
        self.malformed_because(reason)
    }

    fn malformed_because(&self, reason: String) -> AuthError {
        AuthError::Malformed { url: self.url.clone(), status: self.status.as_u16(), reason }
    }
}

/// Returns an address without its query, and the URL as text without a trailing slash of an empty path.
pub(crate) fn canonical_resource(server: &Address) -> String {
    let text = server.as_str().split('?').next().unwrap_or_default();
    match server.uri().path() {
        "/" => text.trim_end_matches('/').to_owned(),
        _ => text.to_owned(),
    }
}

/// Resolves a URL that may be relative to the server; relative ones stay at its origin.
pub(crate) fn resolve(server: &Address, reference: &str) -> Result<String, AddressError> {
    match reference.contains("://") {
        true => Ok(reference.to_owned()),
        false => server.join(reference).map(|address| address.as_str().to_owned()),
    }
}
