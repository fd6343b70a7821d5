//! Metadata in the shape of well-known providers (`testdata/login`): where discovery and the choice of a client end.
//!
//! A file has the metadata of an MCP server (`resource`, served at `resource_at`), the documents of its authorization server
//! by path, redirects, and the answer of a closed registration endpoint. `{mcp}` and `{issuer}` stand for two origins on
//! loopback, `{api}` for a host that nothing must call.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use switchboard_auth::{
    AuthError, LoginChannel, OAuthAuthorizer, OAuthClient, OAuthOptions, PendingCallback, PkcePolicy,
};
use switchboard_http::{Address, BoxFuture, HttpClient, HttpClientOptions, PlainHttp};
use switchboard_testkit::{HttpScript, http_response};

use crate::client::REDIRECT_URI;

const DOCUMENT: &str = "https://client.example/switchboard.json";
const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

/// How the user has configured the server.
#[derive(Debug, Clone, Copy)]
enum Settings {
    Default,
    ClientId,
    MetadataDocument,
    AssumeS256,
    AssumeS256AndClientId,
    /// The path of the metadata of the authorization server.
    MetadataUrl(&'static str),
}

/// Where a login ends.
#[derive(Debug, PartialEq)]
enum Ending {
    /// At the login page, for this client and with these scopes.
    LoginPage { client_id: String, scope: Option<String> },
    /// The user has to register a client with the redirect URI.
    NeedsClient,
    /// The server lists no S256.
    NoS256,
    /// The metadata names another issuer.
    OtherIssuer,
}

impl Ending {
    fn page(client_id: &str, scope: &str) -> Self {
        let scope = (!scope.is_empty()).then(|| scope.to_owned());
        Self::LoginPage { client_id: client_id.to_owned(), scope }
    }
}

fn endings() -> Vec<(&'static str, Settings, Ending)> {
    use Settings::{AssumeS256, AssumeS256AndClientId, ClientId, Default, MetadataDocument, MetadataUrl};
    let registered = |scope| Ending::page("registered", scope);
    let by_hand = |scope| Ending::page("by-hand", scope);
    let atlassian = MetadataUrl("/.well-known/oauth-authorization-server/VC1");
    vec![
        ("atlassian", Default, Ending::OtherIssuer),
        ("atlassian", atlassian, registered("read:jira-work offline_access")),
        ("auth0", Default, registered("openid profile offline_access")),
        ("cloudflare", Default, registered("")),
        ("cloudflare", MetadataDocument, Ending::page(DOCUMENT, "")),
        ("entra-v2", Default, Ending::NoS256),
        ("entra-v2", AssumeS256, Ending::NeedsClient),
        ("entra-v2", AssumeS256AndClientId, by_hand("api://notes/.default offline_access")),
        ("github", Default, Ending::NeedsClient),
        ("github", ClientId, by_hand("repo read:org gist notifications")),
        ("google", Default, Ending::NeedsClient),
        ("google", ClientId, by_hand("{issuer}/auth/calendar.readonly")),
        ("jumpcloud", Default, Ending::NeedsClient),
        ("jumpcloud", ClientId, by_hand("")),
        ("keycloak", Default, Ending::NeedsClient),
        ("keycloak", ClientId, by_hand("notes offline_access")),
        ("linear", Default, registered("")),
        // It does not support metadata documents.
        ("linear", MetadataDocument, registered("")),
        ("notion", Default, registered("")),
        ("okta", Default, Ending::NeedsClient),
        ("okta", ClientId, by_hand("notes.read offline_access")),
        ("sentry", Default, registered("")),
        ("slack", Default, Ending::NeedsClient),
        ("slack", ClientId, by_hand("search:read.public chat:write channels:history")),
    ]
}

/// The servers of a file.
struct Provider {
    mcp: HttpScript,
    issuer: HttpScript,
}

impl Provider {
    async fn start(name: &str) -> Self {
        let text = std::fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
        let shape: Arc<Value> = Arc::new(serde_json::from_str(&text).unwrap());
        // The answers need both origins, which are known once both servers listen.
        let origins = Arc::new(Mutex::new(Vec::new()));
        let serve = || {
            let (shape, origins) = (Arc::clone(&shape), Arc::clone(&origins));
            HttpScript::per_request(move |request| respond(&shape, request, &origins.lock().unwrap()))
        };
        let (mcp, issuer) = (serve().await, serve().await);
        *origins.lock().unwrap() = vec![
            ("{mcp}", mcp.url("")),
            ("{issuer}", issuer.url("")),
            ("{api}", "http://127.0.0.1:9".to_owned()),
        ];
        Self { mcp, issuer }
    }

    /// Logs in until the login page would open.
    async fn log_in(&self, settings: Settings) -> Ending {
        let options = OAuthOptions::default();
        let by_hand = || OAuthClient::public("by-hand");
        let options = match settings {
            Settings::Default => options,
            Settings::ClientId => options.with_client(by_hand()),
            Settings::MetadataDocument => options.with_metadata_document(DOCUMENT),
            Settings::AssumeS256 => options.with_pkce(PkcePolicy::Assume),
            Settings::AssumeS256AndClientId => options.with_pkce(PkcePolicy::Assume).with_client(by_hand()),
            Settings::MetadataUrl(path) => options.with_server_metadata_url(self.issuer.url(path)),
        };
        let http = HttpClient::new(HttpClientOptions::default()).unwrap();
        let server = Address::parse(&self.mcp.url("/mcp"), PlainHttp::LoopbackOnly).unwrap();
        let authorizer = OAuthAuthorizer::new(http, server, options).with_login(Arc::new(ClosedBrowser));
        match authorizer.log_in(&[]).await.unwrap_err() {
            AuthError::LoginAborted(url) => {
                let query = url.split_once('?').unwrap().1.to_owned();
                let parameter = |name: &str| {
                    let found = form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name);
                    found.map(|(_, value)| value.replace(&self.issuer.url(""), "{issuer}"))
                };
                Ending::LoginPage { client_id: parameter("client_id").unwrap(), scope: parameter("scope") }
            }
            AuthError::NeedsClientRegistration { redirect_uri, .. } => {
                assert_eq!(redirect_uri, REDIRECT_URI);
                Ending::NeedsClient
            }
            AuthError::PkceUnsupported { .. } => Ending::NoS256,
            AuthError::IssuerMismatch { .. } => Ending::OtherIssuer,
            error => panic!("{error:?}"),
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/login")
}

/// Answers a request at either origin: the paths of the shapes do not overlap.
fn respond(shape: &Value, request: &str, origins: &[(&str, String)]) -> Vec<u8> {
    let json = |status: &str, body: &Value| {
        let text = origins.iter().fold(body.to_string(), |text, (name, url)| text.replace(name, url));
        http_response(status, &["content-type: application/json"], text)
    };
    let path = request.split(' ').nth(1).unwrap();
    if request.starts_with("POST ") {
        return match shape.get("registration") {
            Some(refusal) => json(refusal["status"].as_str().unwrap(), &refusal["body"]),
            None => json("201 Created", &json!({ "client_id": "registered" })),
        };
    }
    if let Some(to) = shape["redirects"][path].as_str() {
        return http_response("302 Found", &[&format!("location: {to}")], "");
    }
    if path == shape["resource_at"].as_str().unwrap_or(RESOURCE_METADATA) {
        return json("200 OK", &shape["resource"]);
    }
    match shape["documents"].get(path) {
        Some(document) => json("200 OK", document),
        None => http_response("404 Not Found", &["content-type: text/html"], "<title>404</title>"),
    }
}

/// A browser that never opens the page: the login ends with its URL.
#[derive(Debug)]
struct ClosedBrowser;

impl LoginChannel for ClosedBrowser {
    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn PendingCallback>, AuthError>> {
        Box::pin(async { Ok(Box::new(Self) as Box<dyn PendingCallback>) })
    }
}

impl PendingCallback for ClosedBrowser {
    fn redirect_uri(&self) -> &str {
        REDIRECT_URI
    }

    fn authorize<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<String, AuthError>> {
        Box::pin(async move { Err(AuthError::LoginAborted(url.to_owned())) })
    }
}

#[tokio::test]
async fn a_login_at_each_provider_ends_as_it_should() {
    for (name, settings, expected) in endings() {
        let provider = Provider::start(name).await;
        assert_eq!(provider.log_in(settings).await, expected, "{name} {settings:?}");
    }
}

#[test]
fn every_shape_is_in_the_table() {
    let listed: BTreeSet<String> = endings().iter().map(|(name, ..)| format!("{name}.json")).collect();
    let files = std::fs::read_dir(folder()).unwrap();
    let found: BTreeSet<String> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(found, listed);
}
