//! Servers that want OAuth: tokens expire under a running host, and its tools stay.

use std::sync::Arc;

use serde_json::json;
use switchboard::auth::{AuthError, LoginChannel, OAuthAuthorizer, OAuthOptions, PendingCallback};
use switchboard_host::{CredentialProvider, Host, HostError, ServerSpec, Status};
use switchboard_http::{Address, Authorizer, BoxFuture, HttpClient, HttpClientOptions, PlainHttp};
use switchboard_testkit::{ProtectedServer, trial_leaving_tasks};

use crate::hosts::{http, names};

switchboard_testkit::trials![trial_leaving_tasks:
    b18_an_expired_token_is_refreshed_and_no_tool_vanishes,
    b18_the_tools_stay_listed_while_a_token_cannot_be_refreshed,
    b18_a_rejected_refresh_token_needs_a_login_and_no_tool_vanishes,
];

const REDIRECT_URI: &str = "http://127.0.0.1:1/callback";
const TOOL: &str = "mcp__notes__take_note";

/// The logins of a user, who agrees to every one.
#[derive(Debug)]
struct Logins(OAuthAuthorizer);

impl CredentialProvider for Logins {
    fn authorizer(&self, _: &str, _: &ServerSpec) -> Option<Arc<dyn Authorizer>> {
        Some(Arc::new(self.0.clone()))
    }
}

#[derive(Debug)]
struct AgreeingUser;

impl LoginChannel for AgreeingUser {
    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn PendingCallback>, AuthError>> {
        Box::pin(async { Ok(Box::new(Self) as Box<dyn PendingCallback>) })
    }
}

impl PendingCallback for AgreeingUser {
    fn redirect_uri(&self) -> &str {
        REDIRECT_URI
    }

    fn authorize<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<String, AuthError>> {
        let state = url.split('&').find_map(|pair| pair.strip_prefix("state=")).unwrap();
        Box::pin(async move { Ok(format!("{REDIRECT_URI}?code=c&state={state}")) })
    }
}

/// Returns a host that is logged in to this server and connected to it.
async fn logged_in(server: &ProtectedServer) -> Host {
    let http_client = HttpClient::new(HttpClientOptions::default()).unwrap();
    let address = Address::parse(&server.url(), PlainHttp::LoopbackOnly).unwrap();
    let authorizer = OAuthAuthorizer::new(http_client, address, OAuthOptions::default());
    // A login of the user; the host itself cannot ask.
    let stored = Arc::new(switchboard::auth::MemoryStore::new());
    let asking = authorizer.clone().with_store(stored.clone()).with_login(Arc::new(AgreeingUser));
    asking.log_in(&[]).await.unwrap();
    let logins = Logins(authorizer.with_store(stored));
    let host = Host::builder().without_resource_tools().with_credentials(Arc::new(logins)).build();
    host.connect("notes", http(&server.url())).await.unwrap();
    assert_eq!(names(&host), [TOOL]);
    host
}

async fn b18_an_expired_token_is_refreshed_and_no_tool_vanishes() {
    let server = ProtectedServer::start(3600);
    let host = logged_in(&server).await;
    for refreshes in 1..=3 {
        server.forget_tokens();
        host.call("take_note", json!({})).await.unwrap();
        assert_eq!(names(&host), [TOOL]);
        assert!(matches!(host.state("notes").unwrap(), Status::Ready(_)));
        let requests = server.token_requests();
        assert_eq!(requests.len(), 1 + refreshes);
        assert!(requests[refreshes].contains("grant_type=refresh_token"), "{}", requests[refreshes]);
    }
    assert_eq!(host.server_metrics("notes").unwrap().reconnects, 0);
    host.close().await;
}

async fn b18_the_tools_stay_listed_while_a_token_cannot_be_refreshed() {
    let server = ProtectedServer::start(3600);
    let host = logged_in(&server).await;
    server.fail_token_requests(json!({ "error": "temporarily_unavailable" }));
    server.forget_tokens();
    let error = host.call("take_note", json!({})).await.unwrap_err();
    assert!(!matches!(error, HostError::NeedsAuth { .. }), "an outage is no lost login: {error:?}");
    assert_eq!(names(&host), [TOOL]);
    host.close().await;
}

async fn b18_a_rejected_refresh_token_needs_a_login_and_no_tool_vanishes() {
    let server = ProtectedServer::start(3600);
    let host = logged_in(&server).await;
    server.fail_token_requests(json!({ "error": "invalid_grant" }));
    server.forget_tokens();
    let error = host.call("take_note", json!({})).await.unwrap_err();
    assert!(matches!(error, HostError::NeedsAuth { .. }), "{error:?}");
    assert_eq!(names(&host), [TOOL]);
    host.close().await;
}
