//! Logins that several calls wait for, are cancelled, or asked for again and again.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, SystemTime};

use http::{HeaderMap, Method, StatusCode};
use serde_json::json;
use switchboard_auth::{
    GrantMethod, MemoryStore, OAuthAuthorizer, OAuthClient, OAuthOptions, SwapOutcome, TokenStore,
};
use switchboard_http::{
    Address, AuthorizeError, Authorizer, Credentials, HttpClient, HttpClientOptions, HttpError, PlainHttp,
    Request, RequestTarget, Retry, Secret, UnauthorizedResponse,
};
use switchboard_testkit::wait_until;
use tokio::task::JoinHandle;

use crate::authorization_server::{AuthorizationServer, TokenBehavior};
use crate::client::{TestClient, log_in, only_grant, open};
use crate::scripted_login::{ScriptedChannel, ScriptedLogin, UserAction};
use crate::scripted_server::ScriptedServer;

const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";

struct Caller {
    http: HttpClient,
    authorizer: OAuthAuthorizer,
}

impl Caller {
    fn new(server: &ScriptedServer, login: &Arc<ScriptedLogin>) -> Self {
        let http = HttpClient::new(HttpClientOptions::default()).unwrap();
        let authorizer = OAuthAuthorizer::new(http.clone(), server.address(), OAuthOptions::default())
            .with_login(Arc::new(ScriptedChannel(Arc::clone(login))));
        Self { http, authorizer }
    }

    async fn get(&self, url: &str) -> Result<u16, HttpError> {
        let address = Address::parse(url, PlainHttp::LoopbackOnly).unwrap();
        let request = Request::new(Method::GET, address);
        Ok(self.http.send_authorized(request, &self.authorizer).await?.status.as_u16())
    }

    /// Reports a request without a token that was refused.
    async fn refused(&self, server: &ScriptedServer) -> Result<Retry, AuthorizeError> {
        let (method, address, headers) = (Method::GET, server.address(), HeaderMap::new());
        let (target, credentials) = (RequestTarget::new(&method, &address), Credentials::none());
        let status = StatusCode::UNAUTHORIZED;
        let refused = UnauthorizedResponse::new(target, status, &headers, &[], &credentials);
        self.authorizer.handle_unauthorized(refused).await
    }

    fn spawn_get(self: &Arc<Self>, server: &ScriptedServer) -> JoinHandle<Result<u16, HttpError>> {
        let (caller, url) = (Arc::clone(self), server.url("/mcp"));
        tokio::spawn(async move { caller.get(&url).await })
    }
}

/// Begins a call, which waits for another one.
fn begin<T>(call: Pin<&mut impl Future<Output = T>>) {
    assert!(call.poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

#[tokio::test]
async fn calls_that_wait_for_a_login_share_its_failure() {
    let server = ScriptedServer::start().await;
    let login = ScriptedLogin::new(UserAction::Wait);
    let caller = Arc::new(Caller::new(&server, &login));
    let first = caller.spawn_get(&server);
    login.wait_for_page(1).await;
    let mut calls: Vec<_> = (0..4).map(|_| Box::pin(caller.refused(&server))).collect();
    calls.iter_mut().for_each(|call| begin(call.as_mut()));
    login.act(UserAction::GiveUp);
    let mut errors = vec![first.await.unwrap().unwrap_err()];
    for call in calls {
        errors.push(call.await.unwrap_err().into());
    }
    for error in errors {
        let HttpError::Authorize(AuthorizeError::Failed { what, .. }) = &error else { panic!("{error:?}") };
        assert!(what.contains("the user gave up"), "{what}");
    }
    assert_eq!(login.pages(), 1);
    // A call that comes later is a new try.
    login.act(UserAction::Agree);
    assert_eq!(caller.get(&server.url("/mcp")).await.unwrap(), 200);
    assert_eq!(login.pages(), 2);
}

#[tokio::test]
async fn a_login_ends_with_the_last_call_that_waits_for_it() {
    let server = ScriptedServer::start().await;
    let login = ScriptedLogin::new(UserAction::Wait);
    let caller = Arc::new(Caller::new(&server, &login));
    let first = caller.spawn_get(&server);
    login.wait_for_page(1).await;
    let mut second = Box::pin(caller.refused(&server));
    begin(second.as_mut());
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    // The other call still waits.
    login.act(UserAction::Agree);
    assert_eq!(second.await.unwrap(), Retry::Again);
    assert_eq!(login.pages(), 1);

    let login = ScriptedLogin::new(UserAction::Wait);
    let caller = Arc::new(Caller::new(&server, &login));
    let only = caller.spawn_get(&server);
    login.wait_for_page(1).await;
    only.abort();
    login.wait_for_end(1).await;
    // Nobody shares the failure of a login that was abandoned.
    login.act(UserAction::Agree);
    assert_eq!(caller.get(&server.url("/mcp")).await.unwrap(), 200);
    assert_eq!(login.pages(), 2);
}

#[tokio::test]
async fn a_cancelled_call_does_not_interrupt_a_refresh() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "tester").await;
    let client = TestClient::new(server.mcp_address(), store.clone());
    server.expire();
    server.queue(TokenBehavior::StallBeforeRotation);
    let call = tokio::spawn(async move { client.request().await });
    server.wait_for_stall(1).await;
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    server.release();
    wait_until("the rotation", || server.refreshes() == 1).await;
    while only_grant(&store).await.grant.access_token.expose() != "a0-1" {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn t37_accepted_requests_do_not_renew_the_bound_of_step_ups() {
    let server = ScriptedServer::start().await;
    let challenge = r#"www-authenticate: Bearer error="insufficient_scope", scope="write""#;
    server.queue("/write", "403 Forbidden", &[challenge], &json!({}));
    let login = ScriptedLogin::new(UserAction::Agree);
    let caller = Caller::new(&server, &login);
    for _ in 0..5 {
        assert_eq!(caller.get(&server.url("/mcp")).await.unwrap(), 200, "another request is accepted");
        assert_eq!(caller.get(&server.url("/write")).await.unwrap(), 403);
    }
    // The login, and two step-ups.
    assert_eq!(login.pages(), 3);
    let scopes: Vec<_> = login.requests().iter().map(|request| request.get("scope").cloned()).collect();
    assert_eq!(scopes, [None, Some("write".to_owned()), Some("write".to_owned())]);
    // A login of the user's own accord is a new beginning.
    caller.authorizer.log_in(&[]).await.unwrap();
    assert_eq!(caller.get(&server.url("/write")).await.unwrap(), 403);
    assert_eq!(login.pages(), 5);
}

#[tokio::test]
async fn a_renewal_without_a_user_asks_for_the_same_scopes_and_keeps_its_key() {
    let server = ScriptedServer::start().await;
    let metadata = json!({
        "resource": server.url("/mcp"), "authorization_servers": [server.url("")],
        "scopes_supported": ["read", "write", "admin"],
    });
    server.queue(RESOURCE, "200 OK", &[], &metadata);
    server.queue("/mcp", "401 Unauthorized", &[r#"www-authenticate: DPoP scope="read""#], &json!({}));
    server.queue("/mcp", "200 OK", &[], &json!({}));
    server.queue(
        "/token",
        "200 OK",
        &[],
        &json!({"access_token": "good", "token_type": "DPoP", "expires_in": 3600}),
    );
    let store = Arc::new(MemoryStore::new());
    let call = async || {
        let client = OAuthClient::with_secret("c1", Secret::new("s3cret"));
        let options = OAuthOptions::default().with_client(client).with_grant(GrantMethod::ClientCredentials);
        let http = HttpClient::new(HttpClientOptions::default()).unwrap();
        let authorizer =
            OAuthAuthorizer::new(http.clone(), server.address(), options).with_store(store.clone());
        http.send_authorized(Request::new(Method::GET, server.address()), &authorizer).await.unwrap()
    };
    assert_eq!(call().await.status, 200);
    let [mut stored] = store.list().await.unwrap().try_into().unwrap();
    stored.grant.expires_at = Some(SystemTime::now() - Duration::from_secs(1));
    let outcome = store.compare_and_set(&stored.key, Some(stored.generation), Some(stored.grant)).await;
    assert!(matches!(outcome, Ok(SwapOutcome::Written(_))));
    assert_eq!(call().await.status, 200);
    let (forms, requests) = (server.forms("/token"), server.requests("/token"));
    assert_eq!(forms.len(), 2);
    for (form, request) in forms.iter().zip(requests) {
        assert_eq!(form["scope"], "read");
        assert!(request.contains("\r\ndpop: "), "{request}");
    }
}

#[tokio::test]
async fn a_login_with_another_client_ends_the_grant_that_it_replaces() {
    let (server, folder) = (AuthorizationServer::start().await, tempfile::tempdir().unwrap());
    let store = open(&folder.path().join("auth"));
    log_in(&server, &store, "former").await;
    let former = only_grant(&store).await;
    log_in(&server, &store, "later").await;
    assert_eq!(only_grant(&store).await.key.client_id, "later");
    let refresh_token = former.grant.refresh_token.unwrap();
    let expected = [refresh_token, former.grant.access_token].map(|token| Some(token.expose().to_owned()));
    assert_eq!(server.sent("/revoke", "token"), expected);
    // A login with the same client replaces the grant under its key.
    log_in(&server, &store, "later").await;
    assert_eq!(server.sent("/revoke", "token").len(), 2);
}
