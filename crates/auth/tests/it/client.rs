//! The client under test: an authorizer over a file store, logins without a browser, and requests.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::Method;
use switchboard_auth::{
    AuthError, FileStore, GrantState, LoginChannel, OAuthAuthorizer, OAuthClient, OAuthOptions,
    PendingCallback, StoredGrant, SwapOutcome, TokenStore,
};
use switchboard_http::{
    Address, AuthorizeError, BoxFuture, HttpClient, HttpClientOptions, HttpError, Request,
};

use crate::authorization_server::AuthorizationServer;

/// An authorizer and its HTTP client.
#[derive(Clone)]
pub(crate) struct TestClient {
    pub(crate) authorizer: OAuthAuthorizer,
    http: HttpClient,
    server: Address,
}

impl TestClient {
    /// Returns a client that cannot log in.
    pub(crate) fn new(server: Address, store: Arc<dyn TokenStore>) -> Self {
        let http = HttpClient::new(HttpClientOptions::default()).unwrap();
        let options = OAuthOptions::default().with_client(OAuthClient::public("tester"));
        let authorizer = OAuthAuthorizer::new(http.clone(), server.clone(), options).with_store(store);
        Self { authorizer, http, server }
    }

    /// Sends a request to the MCP server and returns the status.
    pub(crate) async fn request(&self) -> Result<u16, HttpError> {
        let request = Request::new(Method::GET, self.server.clone());
        Ok(self.http.send_authorized(request, &self.authorizer).await?.status.as_u16())
    }
}

/// Returns whether a request asks for a login: by an error, or by the challenge of the server.
pub(crate) fn needs_login(outcome: &Result<u16, HttpError>) -> bool {
    matches!(outcome, Err(HttpError::Authorize(AuthorizeError::NeedsLogin)) | Ok(401))
}

/// Opens the store in a directory.
pub(crate) fn open(directory: &Path) -> Arc<FileStore> {
    Arc::new(FileStore::open(directory).unwrap())
}

/// Logs in with this client id and stores the grant, as a `login` command does.
pub(crate) async fn log_in(server: &AuthorizationServer, store: &Arc<FileStore>, client_id: &str) {
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    let options = OAuthOptions::default().with_client(OAuthClient::public(client_id));
    OAuthAuthorizer::new(http, server.mcp_address(), options)
        .with_store(Arc::<FileStore>::clone(store))
        .with_login(Arc::new(Browserless))
        .log_in(&[])
        .await
        .unwrap();
}

/// Returns the only grant of a store.
pub(crate) async fn only_grant(store: &FileStore) -> StoredGrant {
    let [grant] = store.list().await.unwrap().try_into().unwrap();
    grant
}

/// Makes the only grant due: its access token expired an hour ago.
pub(crate) async fn make_expired(store: &FileStore) {
    let expires_at = SystemTime::now() - Duration::from_secs(3600);
    set_lifetime(store, expires_at - Duration::from_secs(3600), expires_at).await;
}

/// Makes the only grant due: 1 of 20 hours of its access token is left.
pub(crate) async fn make_due(store: &FileStore) {
    let expires_at = SystemTime::now() + Duration::from_secs(3600);
    set_lifetime(store, expires_at - Duration::from_secs(20 * 3600), expires_at).await;
}

async fn set_lifetime(store: &FileStore, obtained_at: SystemTime, expires_at: SystemTime) {
    let mut stored = only_grant(store).await;
    (stored.grant.obtained_at, stored.grant.expires_at) = (obtained_at, Some(expires_at));
    replace(store, stored).await;
}

/// Makes the mark of an unanswered refresh an hour old, so that nobody waits for its server any more.
pub(crate) async fn age_mark(store: &FileStore) {
    let mut stored = only_grant(store).await;
    assert!(matches!(stored.grant.state, GrantState::MaybeRotated { .. }), "{:?}", stored.grant.state);
    stored.grant.state = GrantState::MaybeRotated { since: SystemTime::now() - Duration::from_secs(3600) };
    replace(store, stored).await;
}

async fn replace(store: &FileStore, stored: StoredGrant) {
    let outcome = store.compare_and_set(&stored.key, Some(stored.generation), Some(stored.grant)).await;
    assert!(matches!(outcome, Ok(SwapOutcome::Written(_))), "{outcome:?}");
}

/// A login without a browser: every user agrees at once.
#[derive(Debug)]
struct Browserless;

struct AgreedLogin;

const REDIRECT_URI: &str = "http://127.0.0.1:1/callback";

impl LoginChannel for Browserless {
    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn PendingCallback>, AuthError>> {
        Box::pin(async { Ok(Box::new(AgreedLogin) as Box<dyn PendingCallback>) })
    }
}

impl PendingCallback for AgreedLogin {
    fn redirect_uri(&self) -> &str {
        REDIRECT_URI
    }

    fn authorize<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<String, AuthError>> {
        let query = url.split_once('?').unwrap().1;
        let (_, state) = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "state").unwrap();
        Box::pin(async move { Ok(format!("{REDIRECT_URI}?code=c&state={state}")) })
    }
}
