//! Servers that want a login: what is needed next, a login that is lost in the middle of a session, and one that comes back.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::json;
use switchboard_host::config::OAuthConfig;
use switchboard_host::{CredentialProvider, Host, HostError, ServerSpec, Status, StatusKind};
use switchboard_http::{
    AuthorizeError, Authorizer, Bearer, BoxFuture, Credentials, PresentedToken, RequestTarget, Retry, Secret,
    UnauthorizedResponse, VerifiedCaller, Verifier, VerifyError,
};
use switchboard_session::link::LoginRequirement;
use switchboard_session::server::Server;
use switchboard_testkit::trial_leaving_tasks;
use switchboard_transport::http::client::{HeaderHelper, Http};
use switchboard_transport::http::server::{HttpListener, HttpServerOptions, HttpService};
use tokio::task::JoinSet;

use crate::hosts::{http, in_process, names, spec, until};
use crate::toy::Toy;

switchboard_testkit::trials![trial_leaving_tasks:
    b19_a_401_in_the_middle_of_a_session_needs_a_login_and_the_tools_stay_listed,
    b16_a_login_of_another_process_brings_a_server_back,
    a_list_that_is_refused_needs_a_login,
    the_status_says_what_is_needed_next,
    other_login_settings_are_another_server,
    credentials_that_were_sent_are_secret_values,
];

/// Accepts one token, which can be changed.
#[derive(Debug, Default)]
struct Gatekeeper {
    accepted: Mutex<String>,
}

impl Verifier for Gatekeeper {
    fn verify<'a>(
        &'a self,
        presented: PresentedToken<'a>,
    ) -> BoxFuture<'a, Result<Arc<VerifiedCaller>, VerifyError>> {
        let is_accepted = *self.accepted.lock() == presented.token;
        Box::pin(std::future::ready(match is_accepted {
            true => Ok(Arc::new(VerifiedCaller::new("user"))),
            false => Err(VerifyError::invalid("it has expired")),
        }))
    }
}

/// A server on loopback that wants a token.
struct GuardedServer {
    url: String,
    server: Arc<Server>,
    gatekeeper: Arc<Gatekeeper>,
    _tasks: JoinSet<()>,
}

impl GuardedServer {
    async fn open(token: &str) -> Self {
        let server = Toy::new(&["echo"]).server("guarded");
        let gatekeeper = Arc::new(Gatekeeper { accepted: Mutex::new(token.to_owned()) });
        let options = HttpServerOptions::default().with_verifier(Arc::<Gatekeeper>::clone(&gatekeeper));
        let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let url = format!("http://{}/mcp", listener.address().unwrap());
        let mut tasks = JoinSet::new();
        tasks.spawn(listener.serve(HttpService::new(&server, options)));
        Self { url, server, gatekeeper, _tasks: tasks }
    }

    fn accept(&self, token: &str) {
        token.clone_into(&mut self.gatekeeper.accepted.lock());
    }
}

/// Stored tokens of a user; a login increments the version.
#[derive(Debug, Default)]
struct Wallet {
    token: Mutex<Option<(u64, String)>>,
}

impl Wallet {
    fn with(token: &str) -> Arc<Self> {
        Arc::new(Self { token: Mutex::new(Some((1, token.to_owned()))) })
    }

    fn log_in(&self, token: &str) {
        let mut stored = self.token.lock();
        let version = stored.as_ref().map_or(0, |(version, _)| *version);
        *stored = Some((version + 1, token.to_owned()));
    }

    fn host(self: &Arc<Self>) -> Host {
        Host::builder().without_resource_tools().with_credentials(Arc::<Self>::clone(self)).build()
    }
}

impl CredentialProvider for Wallet {
    fn authorizer(&self, _: &str, _: &ServerSpec) -> Option<Arc<dyn Authorizer>> {
        let (_, token) = self.token.lock().clone()?;
        Some(Arc::new(Bearer::new(&Secret::new(token)).unwrap()))
    }

    fn version<'a>(&'a self, _: &'a str, _: &'a ServerSpec) -> BoxFuture<'a, Option<u64>> {
        let version = self.token.lock().as_ref().map(|(version, _)| *version);
        Box::pin(std::future::ready(version))
    }
}

/// An authorizer that obtains nothing, for this reason.
#[derive(Debug)]
struct Failing(AuthorizeError);

impl Authorizer for Failing {
    fn authorize<'a>(&'a self, _: RequestTarget<'a>) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        Box::pin(std::future::ready(Err(self.0.clone())))
    }

    fn handle_unauthorized<'a>(
        &'a self,
        _: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(std::future::ready(Ok(Retry::GiveUp)))
    }
}

async fn b19_a_401_in_the_middle_of_a_session_needs_a_login_and_the_tools_stay_listed() {
    let server = GuardedServer::open("first").await;
    let wallet = Wallet::with("first");
    let host = wallet.host();
    host.connect("guarded", http(&server.url)).await.unwrap();
    host.call("echo", json!({})).await.unwrap();

    server.accept("second");
    let error = host.call("echo", json!({})).await.unwrap_err();
    let HostError::NeedsAuth { challenge, .. } = &error else { panic!("{error:?}") };
    assert_eq!((challenge.status, challenge.error.as_deref()), (401, Some("invalid_token")));
    assert_eq!(error.next_step(), "log in to the server, then reconnect it");
    until(&host, "guarded", |status| matches!(status, Status::NeedsAuth(_))).await;
    assert_eq!(names(&host), ["mcp__guarded__echo"], "its tools stay listed");
    let error = host.call("echo", json!({})).await.unwrap_err();
    assert!(matches!(error, HostError::NeedsAuth { .. }), "{error:?}");

    // Without a login the server is left alone; with one, a reconnect suffices.
    wallet.log_in("second");
    host.reconnect("guarded").await.unwrap();
    host.call("echo", json!({})).await.unwrap();
    host.close().await;
}

async fn b16_a_login_of_another_process_brings_a_server_back() {
    let server = GuardedServer::open("good").await;
    let wallet = Arc::new(Wallet::default());
    let host = wallet.host();
    host.add("guarded", http(&server.url)).unwrap();
    let error = host.ready("guarded").await.unwrap_err();
    assert!(matches!(error, HostError::NeedsAuth { .. }), "{error:?}");
    // A login that the server does not accept leads to one more attempt, and no further one.
    wallet.log_in("bad");
    let invalid =
        |status: &Status| matches!(status, Status::NeedsAuth(challenge) if challenge.error.is_some());
    until(&host, "guarded", invalid).await;
    wallet.log_in("good");
    until(&host, "guarded", |status| matches!(status, Status::Ready(_))).await;
    host.call("echo", json!({})).await.unwrap();
    host.close().await;
}

async fn a_list_that_is_refused_needs_a_login() {
    let server = GuardedServer::open("first").await;
    let host = Wallet::with("first").host();
    host.connect("guarded", http(&server.url)).await.unwrap();
    server.accept("second");
    // A listening stream was authorized when it was opened, so the change is announced; the list is refused.
    server.server.publisher().tools_changed();
    until(&host, "guarded", |status| matches!(status, Status::NeedsAuth(_))).await;
    assert_eq!(names(&host), ["mcp__guarded__echo"]);
    host.close().await;
}

async fn other_login_settings_are_another_server() {
    let toy = Toy::new(&["echo"]);
    let host = Host::builder().with_server("toy", &toy.server("toy")).build();
    let with_account = |account: &str| {
        let mut oauth = OAuthConfig::new();
        oauth.account = Some(account.to_owned());
        in_process("toy").oauth(oauth)
    };
    host.set_servers([("toy", with_account("home"))]).await;
    assert!(host.set_servers([("toy", with_account("home"))]).await.added.is_empty());
    assert_eq!(host.set_servers([("toy", with_account("work"))]).await.added, ["toy"]);
    let with_helper = with_account("work").header_helper(HeaderHelper::new("print-headers"));
    assert_eq!(host.set_servers([("toy", with_helper)]).await.added, ["toy"]);
    host.close().await;
}

async fn the_status_says_what_is_needed_next() {
    let server = GuardedServer::open("good").await;
    let host = Host::new();
    let failing = |error| spec(Http::new(&server.url).authorizer(Arc::new(Failing(error))));
    let (issuer, redirect_uri) =
        ("https://login.example".to_owned(), "http://127.0.0.1:1/callback".to_owned());
    let register = AuthorizeError::NeedsClientRegistration {
        issuer: issuer.clone(),
        redirect_uri: Some(redirect_uri.clone()),
    };
    let (code, message) = ("access_denied".to_owned(), Some("not in the group".to_owned()));
    let blocked = AuthorizeError::BlockedByAdmin { code: code.clone(), message: message.clone() };
    host.set_servers([
        ("login", http(&server.url)),
        ("register", failing(register)),
        ("blocked", failing(blocked)),
        ("own", spec(Http::new(&server.url).header("Authorization", "Bearer old"))),
    ])
    .await;
    let requirement = |name: &str| match host.state(name).unwrap() {
        Status::NeedsAuth(challenge) => challenge.requirement,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(requirement("login"), LoginRequirement::Login);
    assert_eq!(
        requirement("register"),
        LoginRequirement::ClientRegistration { issuer, redirect_uri: Some(redirect_uri) }
    );
    assert_eq!(requirement("blocked"), LoginRequirement::Administrator { code, message });
    assert_eq!(requirement("own"), LoginRequirement::OtherCredentials);

    let json = |name: &str| serde_json::to_value(host.server_status(name).unwrap()).unwrap();
    assert_eq!(host.server_status("own").unwrap().status, StatusKind::NeedsAuth);
    assert_eq!(
        json("register")["login"],
        json!({
            "requirement": "client-registration",
            "issuer": "https://login.example",
            "redirectUri": "http://127.0.0.1:1/callback",
            "nextStep": "register a client at https://login.example with the redirect URI \
                http://127.0.0.1:1/callback, and configure its id; then log in",
        })
    );
    assert_eq!(json("blocked")["login"]["code"], "access_denied");
    assert_eq!(
        json("blocked")["error"],
        "access is blocked by an administrator: access_denied (not in the group)"
    );
    assert_eq!(json("own")["login"]["requirement"], "other-credentials");
    host.close().await;
}

async fn credentials_that_were_sent_are_secret_values() {
    let server = GuardedServer::open("first-token").await;
    let wallet = Wallet::with("first-token");
    let host = wallet.host();
    let secrets = || host.secret_values().iter().map(|secret| secret.expose().to_owned()).collect::<Vec<_>>();
    assert!(secrets().is_empty());
    host.connect("guarded", http(&server.url)).await.unwrap();
    assert_eq!(secrets(), ["Bearer first-token", "first-token"]);

    server.accept("second-token");
    host.call("echo", json!({})).await.unwrap_err();
    until(&host, "guarded", |status| matches!(status, Status::NeedsAuth(_))).await;
    wallet.log_in("second-token");
    until(&host, "guarded", |status| matches!(status, Status::Ready(_))).await;
    // A server may still quote the former one.
    assert_eq!(secrets(), ["Bearer first-token", "first-token", "Bearer second-token", "second-token"]);
    host.close().await;
}
