//! An MCP server that wants OAuth, and its authorization server, at one origin. Every secret contains `canary`.
//!
//! It behaves well unless a test changes it: metadata, challenges, answers of the token endpoint.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use crate::http_script::{HttpScript, http_response};

/// The server. Dropping it closes all connections.
#[derive(Debug)]
pub struct ProtectedServer {
    script: HttpScript,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Seconds until a token expires.
    lifetime: u64,
    /// Every access token that is accepted.
    accepted: Vec<String>,
    issued: usize,
    revocations: Vec<String>,
    /// Members of the metadata of the authorization server that differ; `null` removes one.
    metadata: Vec<(String, Value)>,
    /// The same for the metadata of the resource.
    resource_metadata: Vec<(String, Value)>,
    /// Error codes of the next polls of a device login.
    device_errors: VecDeque<String>,
    /// The answer to every token request instead of a token.
    token_error: Option<Value>,
    /// The access token to issue next.
    next_token: Option<String>,
    /// Status and challenge for requests with a token.
    refusal: Option<(String, String)>,
}

impl ProtectedServer {
    /// Starts a server whose tokens are valid for this many seconds.
    pub fn start(lifetime: u64) -> Self {
        let state = Arc::new(Mutex::new(State { lifetime, ..State::default() }));
        let shared = Arc::clone(&state);
        let script = HttpScript::in_background(move |request| shared.lock().unwrap().respond(request));
        Self { script, state }
    }

    /// Returns the URL of the MCP endpoint.
    pub fn url(&self) -> String {
        self.script.url("/mcp")
    }

    /// Returns the issuer.
    pub fn issuer(&self) -> String {
        format!("http://{}", self.script.address)
    }

    /// Returns every request so far, head and body.
    pub fn requests(&self) -> Vec<String> {
        self.script.log.requests()
    }

    /// Returns the token requests so far.
    pub fn token_requests(&self) -> Vec<String> {
        self.requests().into_iter().filter(|request| request.starts_with("POST /token")).collect()
    }

    /// Returns the bodies of the revocations so far.
    pub fn revocations(&self) -> Vec<String> {
        self.state().revocations.clone()
    }

    /// Changes a member of the metadata of the authorization server; `null` removes it.
    pub fn set_metadata(&self, name: &str, value: Value) {
        self.state().metadata.push((name.to_owned(), value));
    }

    /// Changes a member of the metadata of the resource; `null` removes it.
    pub fn set_resource_metadata(&self, name: &str, value: Value) {
        self.state().resource_metadata.push((name.to_owned(), value));
    }

    /// Supports logins by device code. The first polls are answered with these error codes, the next with a token.
    pub fn support_device(&self, errors: &[&str]) {
        self.set_metadata("device_authorization_endpoint", json!(format!("{}/device", self.issuer())));
        self.state().device_errors = errors.iter().map(|&code| code.to_owned()).collect();
    }

    /// Issues this access token next.
    pub fn set_next_token(&self, token: &str) {
        self.state().next_token = Some(token.to_owned());
    }

    /// Answers every token request with this OAuth error.
    pub fn fail_token_requests(&self, error: Value) {
        self.state().token_error = Some(error);
    }

    /// Answers requests that carry a token with this status and `WWW-Authenticate`; `{token}` there is the token.
    pub fn refuse_tokens(&self, status: &str, challenge: &str) {
        self.state().refusal = Some((status.to_owned(), challenge.to_owned()));
    }

    /// Accepts this token, too.
    pub fn accept_token(&self, token: &str) {
        self.state().accepted.push(token.to_owned());
    }

    /// Accepts no token that was issued so far.
    pub fn forget_tokens(&self) {
        self.state().accepted.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    fn respond(&mut self, request: &str) -> Vec<u8> {
        let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
        let origin = format!("http://{}", header(head, "host").unwrap_or_default());
        let target = head.split(' ').nth(1).unwrap_or_default();
        match target.split('?').next().unwrap_or_default() {
            "/mcp" => self.answer_mcp(head, &origin, body),
            "/.well-known/oauth-protected-resource/mcp" => {
                let metadata = json!({
                    "resource": format!("{origin}/mcp"), "authorization_servers": [origin], "scopes_supported": ["notes"],
                });
                json_response(&changed(metadata, &self.resource_metadata))
            }
            "/.well-known/oauth-authorization-server" => {
                json_response(&changed(server_metadata(&origin), &self.metadata))
            }
            "/register" => json_response(&json!({ "client_id": "c1", "token_endpoint_auth_method": "none" })),
            "/authorize" => {
                let location = format!(
                    "location: {}?code=canary-code&state={}",
                    parameter(target, "redirect_uri"),
                    parameter(target, "state")
                );
                http_response("302 Found", &[&location], "")
            }
            "/device" => json_response(&json!({
                "device_code": "canary-device-code", "user_code": "WDJB-MJHT",
                "verification_uri": format!("{origin}/activate"),
                "verification_uri_complete": format!("{origin}/activate?user_code=WDJB-MJHT"),
                "expires_in": 600, "interval": 1,
            })),
            "/token" => self.answer_token_request(body),
            "/revoke" => {
                self.revocations.push(body.to_owned());
                self.accepted.retain(|token| !body.contains(token.as_str()));
                json_response(&json!({}))
            }
            _ => http_response("404 Not Found", &[], ""),
        }
    }

    fn answer_token_request(&mut self, body: &str) -> Vec<u8> {
        let failed = |error: &Value| {
            http_response("400 Bad Request", &["content-type: application/json"], error.to_string())
        };
        if let Some(error) = &self.token_error {
            return failed(error);
        }
        if body.contains("device_code=")
            && let Some(code) = self.device_errors.pop_front()
        {
            return failed(&json!({ "error": code }));
        }
        self.issued += 1;
        let number = self.issued;
        let token = self.next_token.take().unwrap_or_else(|| format!("canary-access-{number}"));
        self.accepted.push(token.clone());
        json_response(&json!({
            "access_token": token, "token_type": "Bearer", "expires_in": self.lifetime,
            "refresh_token": format!("canary-refresh-{number}"),
        }))
    }

    /// Answers a request to the MCP endpoint: a challenge, or the result for a token that was issued.
    fn answer_mcp(&self, head: &str, origin: &str, body: &str) -> Vec<u8> {
        let sent = header(head, "authorization").and_then(|value| value.strip_prefix("Bearer "));
        if let (Some(_), Some((status, challenge))) = (sent, &self.refusal) {
            let challenge = challenge.replace("{token}", sent.unwrap_or_default());
            return http_response(status, &[&format!("www-authenticate: {challenge}")], "");
        }
        if !sent.is_some_and(|token| self.accepted.iter().any(|accepted| accepted == token)) {
            let challenge = format!(
                "www-authenticate: Bearer scope=\"notes\", \
                 resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\""
            );
            return http_response("401 Unauthorized", &[&challenge], "");
        }
        let message: Value = serde_json::from_str(body).unwrap_or_default();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
                "serverInfo": { "name": "notes", "version": "1" },
            }),
            Some("tools/list") => {
                json!({ "tools": [{ "name": "take_note", "inputSchema": { "type": "object" } }] })
            }
            Some("tools/call") => json!({ "content": [{ "type": "text", "text": "noted" }] }),
            Some("server/discover") => {
                let error = json!({ "code": -32601, "message": "no" });
                return json_response(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
            }
            _ => return http_response("202 Accepted", &[], ""),
        };
        json_response(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
    }
}

fn server_metadata(origin: &str) -> Value {
    let endpoint = |path: &str| format!("{origin}/{path}");
    json!({
        "issuer": origin,
        "authorization_endpoint": endpoint("authorize"), "token_endpoint": endpoint("token"),
        "registration_endpoint": endpoint("register"), "revocation_endpoint": endpoint("revoke"),
        "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none"],
    })
}

fn changed(mut document: Value, changes: &[(String, Value)]) -> Value {
    let members = document.as_object_mut().unwrap();
    for (name, value) in changes {
        match value {
            Value::Null => _ = members.remove(name),
            value => _ = members.insert(name.clone(), value.clone()),
        }
    }
    document
}

fn json_response(value: &Value) -> Vec<u8> {
    http_response("200 OK", &["content-type: application/json"], value.to_string())
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find_map(|(found, value)| found.eq_ignore_ascii_case(name).then_some(value.trim()))
}

/// Returns a query parameter, as far decoded as URLs need it.
fn parameter(url: &str, name: &str) -> String {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let found = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    found.unwrap_or_default().replace("%3A", ":").replace("%2F", "/")
}
