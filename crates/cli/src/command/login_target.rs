//! The server to log in to: a configured one, or a URL.

use std::sync::Arc;

use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http::{Method, StatusCode};
use switchboard::host::config::OAuthConfig;
use switchboard::host::{ServerSpec, Transport};
use switchboard::protocol::Revision;
use switchboard::transport::http_client::{Address, Challenge, HttpClient, PlainHttp, Request};

use crate::configured_servers::ConfigFiles;
use crate::error::{CommandError, ExitKind};
use crate::sanitize::one_line;

/// The server to log in to.
#[derive(Debug)]
pub(crate) struct LoginTarget {
    /// The name by which the user knows it.
    pub(crate) name: String,
    pub(crate) address: Address,
    /// The settings of its `oauth` block.
    pub(crate) oauth: Option<Arc<OAuthConfig>>,
}

impl LoginTarget {
    /// Resolves what the user typed: the name of a configured server, or a URL.
    ///
    /// # Errors
    /// Returns an error if the server is not configured, or not reached over HTTP.
    pub(crate) fn resolve(typed: &str) -> Result<Self, CommandError> {
        if typed.contains("://") {
            let address = Address::parse(typed, PlainHttp::LoopbackOnly)
                .map_err(|error| CommandError::usage(error.to_string()))?;
            return Ok(Self { name: typed.to_owned(), address, oauth: None });
        }
        let files = ConfigFiles::read()?;
        let spec = ServerSpec::from_configured(files.server(typed)?)?;
        let address = match &spec.transport {
            Transport::Http(http) => http.check().map_err(|error| CommandError::usage(error.to_string()))?,
            Transport::Proxy { url, .. } => Address::parse(url, PlainHttp::LoopbackOnly)
                .map_err(|error| CommandError::usage(error.to_string()))?,
            _ => {
                let message =
                    format!("{} is not a server at a URL, so there is nothing to log in to", one_line(typed));
                return Err(CommandError::new(ExitKind::Usage, "usage", message)
                    .hint("a program gets its credentials from its environment: see `env` in its entry"));
            }
        };
        Ok(Self { name: typed.to_owned(), address, oauth: spec.oauth })
    }

    /// Sends a request without credentials and returns the challenges of the server; none if it does not refuse.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached.
    pub(crate) async fn challenges(&self, http: &HttpClient) -> Result<Vec<Challenge>, CommandError> {
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
        let request = Request::new(Method::POST, self.address.clone())
            .with_header(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"))
            .with_header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .with_body(body.to_string());
        let response = http.send(request).await.map_err(switchboard::auth::AuthError::from)?;
        match response.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Ok(Challenge::from_headers(&response.headers))
            }
            _ => Ok(Vec::new()),
        }
    }
}
