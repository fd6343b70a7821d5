//! Our client and our server with tokens that are bound to a key (DPoP), and with tokens that must be stepped up: an
//! authorization server on loopback issues JWTs for the key of the proof and for the scopes that are asked for.

use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use switchboard::client::ClientSession;
use switchboard::server::{HttpListener, HttpServerOptions};
use switchboard::service::prelude::*;
use switchboard::service::rpc::CombinedService;
use switchboard::{Client, Http};
use switchboard_auth::{
    DpopPolicy, DpopVerification, GrantMethod, OAuthAuthorizer, OAuthClient, OAuthOptions, ResourceServer,
};
use switchboard_http::{Address, Bearer, HttpClient, HttpClientOptions, PlainHttp, Secret};
use switchboard_testkit::{HttpScript, http_response};
use tokio::task::JoinHandle;

use crate::issuer::{IssuerKey, unix_now};

/// Notes with two levels of access.
#[service(name = "notes", version = "1.0.0", rpc = "/rpc")]
trait ScopedNotes {
    /// Reads the notes.
    #[tool(scopes("notes:read"))]
    async fn read(&self, cx: &Cx) -> Result<String>;
    /// Deletes all notes.
    #[tool(scopes("notes:read", "notes:delete"))]
    async fn clear(&self, cx: &Cx) -> Result<String>;
}

struct Store;

impl ScopedNotes for Store {
    async fn read(&self, cx: &Cx) -> Result<String> {
        Ok(cx.caller().expect("no anonymous request is admitted").subject.clone())
    }

    async fn clear(&self, cx: &Cx) -> Result<String> {
        Ok(cx.caller().expect("no anonymous request is admitted").scopes.join(" "))
    }
}

/// An authorization server that issues what is asked for. Remembers the tokens.
struct TokenServer {
    script: HttpScript,
    tokens: Arc<Mutex<Vec<String>>>,
}

impl TokenServer {
    async fn start() -> Self {
        let key = IssuerKey::new("k1");
        let (origin, tokens) = (Arc::new(Mutex::new(String::new())), Arc::new(Mutex::new(Vec::new())));
        let (own, issued) = (Arc::clone(&origin), Arc::clone(&tokens));
        let script = HttpScript::per_request(move |request| {
            let origin = own.lock().unwrap().clone();
            let document = match request.split(' ').nth(1).unwrap() {
                "/.well-known/oauth-authorization-server" => json!({
                    "issuer": origin, "jwks_uri": format!("{origin}/jwks"),
                    "token_endpoint": format!("{origin}/token"), "dpop_signing_alg_values_supported": ["ES256"],
                    "grant_types_supported": ["client_credentials"],
                }),
                "/jwks" => json!({ "keys": [key.public] }),
                "/token" => {
                    let (token, kind) = issue(&key, &origin, request);
                    issued.lock().unwrap().push(token.clone());
                    json!({ "access_token": token, "token_type": kind, "expires_in": 600 })
                }
                _ => return http_response("404 Not Found", &[], ""),
            };
            http_response("200 OK", &["content-type: application/json"], document.to_string())
        })
        .await;
        *origin.lock().unwrap() = script.url("");
        Self { script, tokens }
    }
}

/// Issues the token of a request, bound to the key of its proof if it has one.
fn issue(key: &IssuerKey, issuer: &str, request: &str) -> (String, &'static str) {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let parameter = |name: &str| -> String {
        let pair = body.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
        pair.unwrap_or_default().replace('+', " ").replace("%3A", ":").replace("%2F", "/")
    };
    let mut claims = json!({
        "iss": issuer, "aud": parameter("resource"), "sub": "ada", "client_id": "app",
        "scope": parameter("scope"), "exp": unix_now() + 600, "jti": format!("{}", unix_now()),
    });
    let proof = head.lines().find_map(|line| line.strip_prefix("dpop: "));
    if let Some(proof) = proof {
        let header = URL_SAFE_NO_PAD.decode(proof.split('.').next().unwrap()).unwrap();
        let jwk = serde_json::from_slice::<Value>(&header).unwrap()["jwk"].clone();
        let members =
            format!(r#"{{"crv":{},"kty":{},"x":{},"y":{}}}"#, jwk["crv"], jwk["kty"], jwk["x"], jwk["y"]);
        claims["cnf"] = json!({ "jkt": URL_SAFE_NO_PAD.encode(digest(&SHA256, members.as_bytes())) });
    }
    (key.sign(&claims), if proof.is_some() { "DPoP" } else { "Bearer" })
}

/// A service behind a resource server, at its public URL.
struct Service {
    url: String,
    task: JoinHandle<()>,
}

impl Service {
    async fn start(tokens: &TokenServer, dpop: Option<DpopVerification>) -> Self {
        let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let url = format!("http://{}/mcp", listener.address().unwrap());
        let http = HttpClient::new(HttpClientOptions::default()).unwrap();
        let mut resource = ResourceServer::new(&url).issuer(tokens.script.url("")).scopes(["notes:read"]);
        if let Some(dpop) = dpop {
            resource = resource.dpop(dpop);
        }
        let verifier = Arc::new(resource.http_client(http).build().unwrap());
        let options = HttpServerOptions::default().with_verifier(verifier);
        let builder = ScopedNotesServer::builder(Store);
        let task = tokio::spawn(listener.serve(CombinedService::from_builder(&builder, options).unwrap()));
        Self { url, task }
    }

    async fn connect(&self, revision: &str, dpop: DpopPolicy) -> ClientSession {
        let http = HttpClient::new(HttpClientOptions::default()).unwrap();
        let server = Address::parse(&self.url, PlainHttp::LoopbackOnly).unwrap();
        let client = OAuthClient::with_secret("app", Secret::new("s3cret"));
        let options = OAuthOptions::default().with_client(client).with_grant(GrantMethod::ClientCredentials);
        let authorizer = OAuthAuthorizer::new(http, server, options.with_dpop(dpop));
        let policy = switchboard::client::RevisionPolicy::Only(revision.parse().unwrap());
        let server = Http::new(&self.url).authorizer(Arc::new(authorizer));
        Client::new().with_revisions(policy).connect(server).await.unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn call(session: &ClientSession, tool: &str) -> String {
    session.call_tool(tool, json!({})).await.unwrap().text().to_string()
}

#[tokio::test]
async fn our_client_proves_its_key_to_our_server() {
    let tokens = TokenServer::start().await;
    for dpop in [
        DpopVerification::required(),
        DpopVerification::required().with_nonces(),
        DpopVerification::optional().with_shared_nonces([7; 32]),
    ] {
        let service = Service::start(&tokens, Some(dpop)).await;
        for revision in ["2026-07-28", "2025-11-25"] {
            let session = service.connect(revision, DpopPolicy::Always).await;
            for _ in 0..3 {
                assert_eq!(call(&session, "read").await, "ada", "{revision}");
            }
            session.close().await;
        }
        // The same token without a proof is that of a thief.
        let token = tokens.tokens.lock().unwrap().last().unwrap().clone();
        let bearer = Arc::new(Bearer::new(&Secret::new(token)).unwrap());
        let stolen = Client::new().connect(Http::new(&service.url).authorizer(bearer)).await;
        let error = format!("{:?}", stolen.unwrap_err());
        assert!(error.contains("invalid_token") && error.contains("bound to a key"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_demands_proofs_rejects_other_tokens_and_says_so() {
    let tokens = TokenServer::start().await;
    let service = Service::start(&tokens, Some(DpopVerification::required())).await;
    // The client sees in the metadata that proofs are required.
    let session = service.connect("2026-07-28", DpopPolicy::WhenRequired).await;
    assert_eq!(call(&session, "read").await, "ada");
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    let metadata = service.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
    let metadata = Address::parse(&metadata, PlainHttp::LoopbackOnly).unwrap();
    let response = http.send(switchboard_http::Request::new(http::Method::GET, metadata)).await.unwrap();
    let document: Value = serde_json::from_slice(&response.body.collect(10_000).await.unwrap()).unwrap();
    assert_eq!(document["dpop_bound_access_tokens_required"], true);
    assert_eq!(document["dpop_signing_alg_values_supported"][0], "ES256");

    // Where they are optional, other tokens are accepted as well.
    let service = Service::start(&tokens, Some(DpopVerification::optional())).await;
    let session = service.connect("2026-07-28", DpopPolicy::Never).await;
    assert_eq!(call(&session, "read").await, "ada");
    assert!(!tokens.tokens.lock().unwrap().last().unwrap().is_empty());
}

#[tokio::test]
async fn a_client_steps_up_to_all_scopes_of_a_tool() {
    for (revision, dpop) in [
        ("2026-07-28", DpopPolicy::Never),
        ("2025-11-25", DpopPolicy::Never),
        ("2026-07-28", DpopPolicy::Always),
    ] {
        let tokens = TokenServer::start().await;
        let service = Service::start(&tokens, Some(DpopVerification::optional().with_nonces())).await;
        let session = service.connect(revision, dpop).await;
        assert_eq!(call(&session, "read").await, "ada");
        assert_eq!(tokens.tokens.lock().unwrap().len(), 1);
        // The challenge names both scopes, and the token that follows has them.
        assert_eq!(call(&session, "clear").await, "notes:read notes:delete", "{revision}");
        assert_eq!(call(&session, "read").await, "ada");
        assert_eq!(tokens.tokens.lock().unwrap().len(), 2, "{revision} {dpop:?}");
    }
}
