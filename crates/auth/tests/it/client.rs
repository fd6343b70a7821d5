//! The client under test: an authorizer and its requests, and a browser whose user agrees to every login.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::Method;
use switchboard_auth::{
    AuthError, FIXED_CALLBACK_PORT, FileStore, GrantState, LoginChannel, OAuthAuthorizer, OAuthClient,
    OAuthOptions, PendingCallback, StoredGrant, SwapOutcome, TokenStore,
};
use switchboard_http::{
    Address, AuthorizeError, BoxFuture, HttpClient, HttpClientOptions, HttpError, Request,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

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
        Self::with_options(server, preset("tester"), |authorizer| authorizer.with_store(store))
    }

    /// Returns a client with these settings, whose user agrees to every login.
    pub(crate) fn with_browser(server: &AuthorizationServer, options: OAuthOptions) -> Self {
        let channel = Arc::new(Browser);
        Self::with_options(server.mcp_address(), options, |authorizer| authorizer.with_login(channel))
    }

    fn with_options(
        server: Address,
        options: OAuthOptions,
        finish: impl FnOnce(OAuthAuthorizer) -> OAuthAuthorizer,
    ) -> Self {
        let http = HttpClient::new(HttpClientOptions::default()).unwrap();
        let authorizer = finish(OAuthAuthorizer::new(http.clone(), server.clone(), options));
        Self { authorizer, http, server }
    }

    /// Keeps tokens in this store.
    pub(crate) fn with_store(mut self, store: Arc<dyn TokenStore>) -> Self {
        self.authorizer = self.authorizer.with_store(store);
        self
    }

    /// Sends a request that must fail, and returns why the authorizer failed.
    pub(crate) async fn failure(&self) -> AuthError {
        match self.request().await {
            Err(HttpError::Authorize(AuthorizeError::Failed { source: Some(source), .. })) => {
                source.downcast_ref::<AuthError>().expect("the error of an authorizer").clone()
            }
            other => panic!("{other:?}"),
        }
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

/// Returns the settings of a client that was registered by hand.
pub(crate) fn preset(client_id: &str) -> OAuthOptions {
    OAuthOptions::default().with_client(OAuthClient::public(client_id))
}

/// Logs in with this client id and stores the grant, as a `login` command does.
pub(crate) async fn log_in(server: &AuthorizationServer, store: &Arc<FileStore>, client_id: &str) {
    let client = TestClient::with_browser(server, preset(client_id));
    client.with_store(Arc::<FileStore>::clone(store)).authorizer.log_in(&[]).await.unwrap();
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

/// A browser whose user agrees to every login: it requests the page, and follows its redirect to the callback.
#[derive(Debug)]
pub(crate) struct Browser;

struct OpenPage {
    redirect_uri: String,
}

pub(crate) const REDIRECT_URI: &str = "http://127.0.0.1:1/callback";

impl LoginChannel for Browser {
    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn PendingCallback>, AuthError>> {
        let page = OpenPage { redirect_uri: REDIRECT_URI.to_owned() };
        Box::pin(async { Ok(Box::new(page) as Box<dyn PendingCallback>) })
    }

    fn begin_at_fixed_port(&self) -> BoxFuture<'_, Result<Option<Box<dyn PendingCallback>>, AuthError>> {
        let page = OpenPage { redirect_uri: format!("http://127.0.0.1:{FIXED_CALLBACK_PORT}/callback") };
        Box::pin(async { Ok(Some(Box::new(page) as Box<dyn PendingCallback>)) })
    }
}

impl PendingCallback for OpenPage {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn authorize<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<String, AuthError>> {
        Box::pin(async move {
            let response = visit(url).await.map_err(|error| AuthError::LoginAborted(error.to_string()))?;
            let location = response.lines().find_map(|line| line.strip_prefix("location: "));
            let status = response.lines().next().unwrap_or_default();
            location.map(str::to_owned).ok_or_else(|| AuthError::LoginAborted(status.to_owned()))
        })
    }
}

/// Requests a page and returns the response.
async fn visit(url: &str) -> std::io::Result<String> {
    let (host, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).unwrap();
    let mut stream = TcpStream::connect(host).await?;
    stream.write_all(format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes()).await?;
    // The server closes the connection when nothing more can come.
    stream.shutdown().await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    Ok(response)
}
