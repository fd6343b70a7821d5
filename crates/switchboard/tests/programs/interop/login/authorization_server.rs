//! Authorization servers that others wrote, started for one test.

use std::path::Path;

use http::Method;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use switchboard::auth::OAuthClient;
use switchboard::transport::http_client::{
    Address, HttpClient, HttpClientOptions, PlainHttp, Request, Secret,
};
use tokio::process::Command;

use crate::interop::listening::Listening;
use crate::interop::peer::place;

/// A running authorization server.
pub(crate) struct AuthorizationServer {
    server: Listening,
}

impl AuthorizationServer {
    /// Starts oidc-provider with these options of `authorization-server.mjs`.
    pub(crate) async fn oidc_provider(options: &[&str]) -> Self {
        Self::start("oidc", options, None).await
    }

    /// Starts oidc-provider, which trusts the certificates of this file.
    pub(crate) async fn oidc_provider_trusting(certificates: &Path) -> Self {
        Self::start("oidc", &[], Some(certificates)).await
    }

    /// Starts oauth2-mock-server, which gets this wrong.
    pub(crate) async fn mock(falsified: Option<&str>) -> Self {
        let options: Vec<&str> = falsified.into_iter().flat_map(|name| ["--falsify", name]).collect();
        Self::start("mock", &options, None).await
    }

    async fn start(kind: &str, options: &[&str], certificates: Option<&Path>) -> Self {
        let mut command = Command::new("node");
        command
            .arg(place("SWITCHBOARD_INTEROP_NODE").join("authorization-server.mjs"))
            .arg(kind)
            .args(options);
        if let Some(certificates) = certificates {
            command.env("NODE_EXTRA_CA_CERTS", certificates);
        }
        Self { server: Listening::start(command, "").await }
    }

    /// Returns the issuer, which is also the base of its endpoints.
    pub(crate) fn issuer(&self) -> &str {
        self.server.url()
    }

    /// Returns the introspection endpoint of oidc-provider, and the client that may use it.
    pub(crate) fn introspection(&self) -> (String, OAuthClient) {
        let secret = Secret::new("secret-of-the-resource-server");
        (
            format!("{}/token/introspection", self.issuer()),
            OAuthClient::with_secret("resource-server", secret),
        )
    }

    /// Returns what has happened, a line per event.
    pub(crate) async fn events(&self) -> String {
        send(Request::new(Method::GET, address(&format!("{}/events", self.issuer())))).await
    }

    /// Returns what the introspection endpoint of oidc-provider says about a token.
    pub(crate) async fn introspect(&self, token: &Secret) -> String {
        // `resource-server` and its secret.
        let basic = "Basic cmVzb3VyY2Utc2VydmVyOnNlY3JldC1vZi10aGUtcmVzb3VyY2Utc2VydmVy";
        let request = Request::new(Method::POST, address(&self.introspection().0))
            .with_header(AUTHORIZATION, HeaderValue::from_static(basic))
            .with_header(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"))
            .with_body(format!("token={}", token.expose()));
        send(request).await
    }

    /// Returns how often an event has happened.
    pub(crate) async fn count(&self, event: &str) -> usize {
        self.events().await.lines().filter(|line| *line == event).count()
    }

    pub(crate) async fn stop(self) {
        self.server.stop().await;
    }
}

fn address(url: &str) -> Address {
    Address::parse(url, PlainHttp::LoopbackOnly).unwrap()
}

async fn send(request: Request) -> String {
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    let body = http.send(request).await.unwrap().body.collect(100_000).await.unwrap();
    String::from_utf8(body.to_vec()).unwrap()
}
