//! A service with scoped tools behind a resource server, over HTTP: every rejection is a complete challenge.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{HeaderName, HeaderValue};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use switchboard::server::{HttpListener, HttpServerOptions};
use switchboard::service::prelude::*;
use switchboard::service::rpc::CombinedService;
use switchboard::{CallError, Client, Http};
use switchboard_auth::{ApiKeys, ResourceServer, Scopes};
use switchboard_http::{Address, Bearer, HttpClient, HttpClientOptions, PlainHttp, Request, Secret};
use tokio::task::JoinHandle;

use crate::issuer::{Issuer, IssuerKey, RESOURCE, unix_now};

const METADATA_URL: &str = "https://notes.example.org/.well-known/oauth-protected-resource/mcp";

/// Notes of one user.
#[service(name = "notes", version = "1.0.0", rpc = "/rpc")]
trait Notes {
    /// Returns who calls.
    #[tool(scopes("notes:read"))]
    async fn whoami(&self, cx: &Cx) -> Result<String>;
    /// Deletes all notes.
    #[tool(scopes("notes:read", "notes:delete"))]
    async fn clear(&self) -> Result<String>;
}

struct Store;

impl Notes for Store {
    async fn whoami(&self, cx: &Cx) -> Result<String> {
        let caller = cx.caller().expect("the resource server admits no anonymous request");
        let claims: Value = caller.claims.decode().unwrap();
        Ok(format!("{} {:?} {:?} {}", caller.subject, caller.issuer, caller.scopes, claims["client_id"]))
    }

    async fn clear(&self) -> Result<String> {
        Ok("cleared".to_owned())
    }
}

/// A running service.
struct ProtectedService {
    base: String,
    http: HttpClient,
    task: JoinHandle<()>,
}

struct Reply {
    status: StatusCode,
    headers: http::HeaderMap,
    body: Value,
}

impl Reply {
    fn challenge(&self) -> &str {
        self.headers["www-authenticate"].to_str().unwrap()
    }
}

impl ProtectedService {
    async fn start(resource: ResourceServer) -> Self {
        let options = HttpServerOptions::default().with_verifier(Arc::new(resource.build().unwrap()));
        let builder = NotesServer::builder(Store);
        let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let base = format!("http://{}", listener.address().unwrap());
        let task = tokio::spawn(listener.serve(CombinedService::from_builder(&builder, options).unwrap()));
        Self { base, http: HttpClient::new(HttpClientOptions::default()).unwrap(), task }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: Option<&Value>,
    ) -> Reply {
        let address = Address::parse(&format!("{}{path}", self.base), PlainHttp::LoopbackOnly).unwrap();
        let mut request = Request::new(method, address);
        for (name, value) in headers {
            request =
                request.with_header(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        if let Some(body) = body {
            request = request.with_body(body.to_string());
        }
        let response = self.http.send(request).await.unwrap();
        let (status, headers) = (response.status, response.headers);
        let body = response.body.collect(100_000).await.unwrap();
        Reply { status, headers, body: serde_json::from_slice(&body).unwrap_or_default() }
    }

    /// Calls a tool in the modern era.
    async fn call(&self, tool: &str, token: Option<&str>) -> Reply {
        self.call_at("/mcp", tool, token).await
    }

    async fn call_at(&self, path: &str, tool: &str, token: Option<&str>) -> Reply {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "_meta": meta } });
        let authorization = token.map(|token| format!("Bearer {token}"));
        let mut headers = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ];
        headers.extend(authorization.as_deref().map(|value| ("authorization", value)));
        self.send(Method::POST, path, &headers, Some(&call)).await
    }
}

impl Drop for ProtectedService {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn settings(issuer: &Issuer) -> ResourceServer {
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    ResourceServer::new(RESOURCE).issuer(issuer.url()).scopes(["notes:read"]).http_client(http)
}

#[tokio::test]
async fn a_valid_token_reaches_the_tool_and_names_its_caller() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let mut keys = ApiKeys::default();
    let api_key = keys.create("ci", Scopes::parse("notes:read notes:delete"), None);
    let service = ProtectedService::start(settings(&issuer).api_keys(keys)).await;
    let token = key.sign(&issuer.claims());
    let reply = service.call("whoami", Some(&token)).await;
    let expected = format!(r#"ada Some("{}") ["notes:read"] "app""#, issuer.url());
    assert_eq!(
        (reply.status, &reply.body["result"]["content"][0]["text"]),
        (StatusCode::OK, &json!(expected))
    );
    let reply = service.call("clear", Some(api_key.expose())).await;
    assert_eq!(reply.body["result"]["content"][0]["text"], "cleared");
}

#[tokio::test]
async fn requests_without_a_valid_token_are_challenged() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let service = ProtectedService::start(settings(&issuer)).await;
    for path in ["/mcp", "/rpc", "/mcp?access_token=x"] {
        let reply = service.call_at(path, "whoami", None).await;
        let expected = format!(r#"Bearer resource_metadata="{METADATA_URL}", scope="notes:read""#);
        assert_eq!(
            (reply.status, reply.challenge()),
            (StatusCode::UNAUTHORIZED, expected.as_str()),
            "{path}"
        );
    }
    let changed = |name: &str, value: Value| {
        let mut claims = issuer.claims();
        claims[name] = value;
        key.sign(&claims)
    };
    let valid = key.sign(&issuer.claims());
    let payload = valid.split('.').nth(1).unwrap();
    let unsigned = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"at+jwt","kid":"k1"}"#);
    for (token, reason) in [
        (changed("aud", json!("https://other.example.org/mcp")), "its audience is another server"),
        (changed("iss", json!("https://evil.example.org")), "it is of another issuer"),
        (changed("exp", json!(unix_now() - 3600)), "it has expired"),
        (format!("{unsigned}.{payload}."), "the signature algorithm of the token is not allowed"),
        (key.sign_symmetrically(&issuer.claims()), "the signature algorithm of the token is not allowed"),
    ] {
        let reply = service.call("whoami", Some(&token)).await;
        let expected = format!(
            r#"Bearer resource_metadata="{METADATA_URL}", error="invalid_token", scope="notes:read", error_description="the token is not valid: {reason}""#
        );
        assert_eq!((reply.status, reply.challenge()), (StatusCode::UNAUTHORIZED, expected.as_str()));
    }
    issuer.set_broken();
    let other = ProtectedService::start(settings(&issuer)).await;
    let reply = other.call("whoami", Some(&valid)).await;
    assert_eq!(
        (reply.status, reply.headers.get("www-authenticate")),
        (StatusCode::SERVICE_UNAVAILABLE, None)
    );
}

#[tokio::test]
async fn a_token_with_too_little_scope_is_told_all_scopes_of_the_tool() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let service = ProtectedService::start(settings(&issuer)).await;
    let reply = service.call("clear", Some(&key.sign(&issuer.claims()))).await;
    let expected = format!(
        r#"Bearer resource_metadata="{METADATA_URL}", error="insufficient_scope", scope="notes:read notes:delete""#
    );
    assert_eq!((reply.status, reply.challenge()), (StatusCode::FORBIDDEN, expected.as_str()));
    // The step-up: the same request with a token for all of them.
    let mut claims = issuer.claims();
    claims["scope"] = json!("notes:read notes:delete");
    assert_eq!(service.call("clear", Some(&key.sign(&claims))).await.status, StatusCode::OK);
}

/// Sends a message of the legacy era, or of plain JSON-RPC.
async fn post(
    service: &ProtectedService,
    path: &str,
    token: &str,
    session: Option<&str>,
    body: Value,
) -> Reply {
    let authorization = format!("Bearer {token}");
    let mut headers = vec![
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("authorization", authorization.as_str()),
    ];
    if let Some(session) = session {
        headers.extend([("mcp-session-id", session), ("mcp-protocol-version", "2025-03-26")]);
    }
    service.send(Method::POST, path, &headers, Some(&body)).await
}

#[tokio::test]
async fn missing_scopes_are_a_challenge_in_sessions_batches_and_plain_rpc() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let service = ProtectedService::start(settings(&issuer)).await;
    let token = key.sign(&issuer.claims());
    let opening = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let opened = post(&service, "/mcp", &token, None, opening).await;
    let session = opened.headers["mcp-session-id"].to_str().unwrap().to_owned();
    let session = Some(session.as_str());
    let tool = |id: u32, name: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name } });
    let method = |id: u32, name: &str| json!({ "jsonrpc": "2.0", "id": id, "method": name });
    let challenge = |scopes: &str| {
        format!(r#"Bearer resource_metadata="{METADATA_URL}", error="insufficient_scope", scope="{scopes}""#)
    };
    let all = challenge("notes:read notes:delete");
    for (path, session, body, status, expected) in [
        ("/mcp", session, tool(1, "clear"), 403, Some(&all)),
        ("/mcp", session, json!([tool(1, "clear"), tool(2, "clear")]), 403, Some(&all)),
        // Something was executed: a client that repeated the request would execute it again.
        ("/mcp", session, json!([tool(1, "clear"), tool(2, "whoami")]), 200, Some(&all)),
        ("/mcp", session, json!([tool(1, "whoami")]), 200, None),
        ("/rpc", None, method(1, "clear"), 403, Some(&all)),
        ("/rpc", None, json!([method(1, "clear"), method(2, "clear")]), 403, Some(&all)),
        ("/rpc", None, json!([method(1, "clear"), method(2, "whoami")]), 200, Some(&all)),
        ("/rpc", None, method(1, "whoami"), 200, None),
    ] {
        let reply = post(&service, path, &token, session, body.clone()).await;
        assert_eq!(reply.status.as_u16(), status, "{path} {body} {}", reply.body);
        let found = reply.headers.get("www-authenticate").map(|value| value.to_str().unwrap());
        assert_eq!(found, expected.map(String::as_str), "{path} {body}");
    }
}

#[tokio::test]
async fn b09_the_metadata_names_the_public_url_whatever_host_is_asked() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let service = ProtectedService::start(settings(&issuer).name("Notes")).await;
    let forged = [("x-forwarded-host", "evil.example.org"), ("origin", "https://inspector.example.org")];
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let reply = service.send(Method::GET, path, &forged, None).await;
        let expected = json!({
            "resource": RESOURCE,
            "authorization_servers": [issuer.url()],
            "scopes_supported": ["notes:read"],
            "bearer_methods_supported": ["header"],
            "resource_name": "Notes",
        });
        assert_eq!((reply.status, reply.body), (StatusCode::OK, expected), "{path}");
        assert_eq!(reply.headers["access-control-allow-origin"], "*");
        let preflight = service.send(Method::OPTIONS, path, &forged, None).await;
        assert_eq!(preflight.status, StatusCode::NO_CONTENT);
        assert_eq!(preflight.headers["access-control-allow-headers"], "*");
    }
    let reply = service.send(Method::GET, "/.well-known/oauth-protected-resource/other", &[], None).await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn our_client_calls_the_tool_with_its_token() {
    let key = IssuerKey::new("k1");
    let issuer = Issuer::start(&[&key]).await;
    let service = ProtectedService::start(settings(&issuer)).await;
    let bearer = Bearer::new(&Secret::new(key.sign(&issuer.claims()))).unwrap();
    let server = Http::new(format!("{}/mcp", service.base));
    let session = Client::new().connect(server.clone().authorizer(Arc::new(bearer))).await.unwrap();
    let result = session.call_tool("whoami", json!({})).await.unwrap();
    assert!(format!("{result:?}").contains("ada"), "{result:?}");
    // Without one, the error carries the challenge.
    match Client::new().connect(server).await.unwrap_err() {
        CallError::Link(error) => {
            assert_eq!(error.challenge().unwrap().resource_metadata.as_deref(), Some(METADATA_URL));
        }
        other => panic!("{other:?}"),
    }
}
