//! A hostile authorization server, and the MCP server that accepts its tokens, on one loopback port.
//!
//! Without faults it follows the specification: codes are bound to client, redirect URI and PKCE challenge; refresh tokens
//! rotate, and a reused one revokes its family. A test lists the [`Fault`]s it wants, and queues a [`TokenBehavior`] for
//! each refresh that should go wrong.

mod code_flow;
mod families;
mod fault;
mod received;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use switchboard_http::{Address, PlainHttp};
use switchboard_testkit::{HttpScript, http_response, read_request, wait_until};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::watch;

use self::code_flow::IssuedCode;
use self::families::Family;

pub(crate) use self::families::TokenBehavior;
pub(crate) use self::fault::{Answer, Fault};
pub(crate) use self::received::Received;

pub(crate) const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource/mcp";
pub(crate) const SERVER_METADATA: &str = "/.well-known/oauth-authorization-server";
const JSON: &str = "content-type: application/json";

#[derive(Default)]
struct State {
    faults: Vec<Fault>,
    families: Vec<Family>,
    codes: Vec<IssuedCode>,
    /// How many clients have registered.
    clients: usize,
    behaviors: VecDeque<TokenBehavior>,
    /// The refresh tokens that were presented, in order.
    presented: Vec<String>,
    refreshes: usize,
    reuses: usize,
    /// How often the metadata of the authorization server was read.
    discoveries: usize,
    /// How many connections are open.
    connections: usize,
}

impl State {
    fn expire(&mut self) {
        self.families.iter_mut().for_each(|family| family.is_access_expired = true);
    }

    /// Returns what the first fault of a kind says.
    fn fault<T>(&self, find: impl Fn(&Fault) -> Option<T>) -> Option<T> {
        self.faults.iter().find_map(find)
    }
}

pub(crate) struct AuthorizationServer {
    script: HttpScript,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// How many requests have stalled so far.
    stalled: watch::Sender<usize>,
    /// How often stalled requests were released.
    released: watch::Sender<usize>,
}

impl AuthorizationServer {
    pub(crate) async fn start() -> Self {
        Self::with_faults([]).await
    }

    pub(crate) async fn with_faults(faults: impl IntoIterator<Item = Fault>) -> Self {
        let state = State { faults: faults.into_iter().collect(), ..State::default() };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            stalled: watch::Sender::new(0),
            released: watch::Sender::new(0),
        });
        let serving = Arc::clone(&shared);
        let script = HttpScript::per_connection(move |stream, log| {
            let shared = Arc::clone(&serving);
            async move { shared.serve(stream, &log).await }
        })
        .await;
        Self { script, shared }
    }

    /// Replaces the faults from now on.
    pub(crate) fn set_faults(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state().faults = faults.into_iter().collect();
    }

    /// Returns the URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        self.script.url(path)
    }

    /// Returns the URL of the MCP server.
    pub(crate) fn mcp_url(&self) -> String {
        self.script.url("/mcp")
    }

    pub(crate) fn mcp_address(&self) -> Address {
        Address::parse(&self.mcp_url(), PlainHttp::LoopbackOnly).unwrap()
    }

    /// Returns the requests so far.
    pub(crate) fn requests(&self) -> Vec<Received> {
        self.script.log.requests().iter().map(|request| Received::parse(request)).collect()
    }

    /// Returns the requests for a path so far.
    pub(crate) fn requests_for(&self, path: &str) -> Vec<Received> {
        self.requests().into_iter().filter(|request| request.path == path).collect()
    }

    /// Returns a parameter of each request for a path so far.
    pub(crate) fn sent(&self, path: &str, name: &str) -> Vec<Option<String>> {
        self.requests_for(path).into_iter().map(|mut request| request.parameters.remove(name)).collect()
    }

    /// Answers the next refresh like this.
    pub(crate) fn queue(&self, behavior: TokenBehavior) {
        self.state().behaviors.push_back(behavior);
    }

    /// Lets all access tokens expire: the MCP server answers with 401 from now on.
    pub(crate) fn expire(&self) {
        self.state().expire();
    }

    /// Returns how often a refresh token was rotated or at least accepted.
    pub(crate) fn refreshes(&self) -> usize {
        self.state().refreshes
    }

    /// Returns how often an old refresh token was presented.
    pub(crate) fn reuses(&self) -> usize {
        self.state().reuses
    }

    /// Returns how often the metadata of the authorization server was read.
    pub(crate) fn discoveries(&self) -> usize {
        self.state().discoveries
    }

    /// Returns the refresh tokens that were presented.
    pub(crate) fn presented(&self) -> Vec<String> {
        self.state().presented.clone()
    }

    /// Returns the refresh token of the last login that is valid now.
    pub(crate) fn refresh_token(&self) -> String {
        let state = self.state();
        let number = state.families.len() - 1;
        format!("r{number}-{}", state.families[number].refresh_serial)
    }

    /// Waits until all clients have gone, and all that they sent was handled.
    pub(crate) async fn wait_for_disconnection(&self) {
        wait_until("the end of all connections", || self.state().connections == 0).await;
    }

    /// Waits until so many requests have stalled since the start.
    pub(crate) async fn wait_for_stall(&self, count: usize) {
        self.shared.stalled.subscribe().wait_for(|stalled| *stalled >= count).await.unwrap();
    }

    /// Lets stalled requests go on.
    pub(crate) fn release(&self) {
        self.shared.released.send_modify(|released| *released += 1);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    async fn serve(&self, mut stream: TcpStream, log: &switchboard_testkit::RequestLog) {
        self.state().connections += 1;
        while let Some(request) = read_request(&mut stream).await {
            log.add(&request);
            let response = self.respond(&Received::parse(&request)).await;
            if stream.write_all(&response).await.is_err() {
                break;
            }
        }
        self.state().connections -= 1;
    }

    async fn respond(&self, request: &Received) -> Vec<u8> {
        let scripted = self.state().fault(|fault| fault.answer_at(&request.path));
        if let Some(answer) = scripted {
            if matches!(answer, Answer::Stall) {
                self.stall().await;
            }
            return answer.encode(&request.origin);
        }
        match request.path.as_str() {
            "/mcp" => self.respond_as_mcp_server(request),
            "/register" => self.register(),
            "/authorize" => self.authorize(request),
            "/token" if request.parameter("grant_type") == "refresh_token" => self.refresh(request).await,
            "/token" if request.parameters.contains_key("assertion") => self.accept_assertion(request),
            "/token" => self.redeem(request),
            "/revoke" => http_response("200 OK", &[], ""),
            path => self.respond_with_metadata(path, &request.origin),
        }
    }

    fn respond_as_mcp_server(&self, request: &Received) -> Vec<u8> {
        let state = self.state();
        let is_valid = state.families.iter().enumerate().any(|(number, family)| {
            let expected = format!("Bearer {}", family.access_token(number));
            family.accepts_access() && request.header("authorization") == Some(&expected)
        });
        if is_valid {
            return http_response("200 OK", &[], "");
        }
        let challenge = match state.fault(Fault::challenge) {
            None => format!("Bearer resource_metadata=\"{}{RESOURCE_METADATA}\"", request.origin),
            Some(challenge) => challenge.replace("{origin}", &request.origin),
        };
        let header = format!("www-authenticate: {challenge}");
        let headers = if challenge.is_empty() { vec![] } else { vec![header.as_str()] };
        http_response("401 Unauthorized", &headers, "")
    }

    fn respond_with_metadata(&self, path: &str, origin: &str) -> Vec<u8> {
        let mut state = self.state();
        if path == state.fault(Fault::resource_metadata_path).unwrap_or(RESOURCE_METADATA) {
            let document = json!({ "resource": "{origin}/mcp", "authorization_servers": ["{origin}"] });
            let document = fault::with_members(document, &state.faults, Fault::resource_member);
            return json_response("200 OK", &document, origin);
        }
        if path == state.fault(Fault::server_metadata_path).unwrap_or(SERVER_METADATA) {
            state.discoveries += 1;
            let document = json!({
                "issuer": "{origin}",
                "authorization_endpoint": "{origin}/authorize",
                "token_endpoint": "{origin}/token",
                "registration_endpoint": "{origin}/register",
                "revocation_endpoint": "{origin}/revoke",
                "code_challenge_methods_supported": ["S256"],
            });
            let document = fault::with_members(document, &state.faults, Fault::server_member);
            return json_response("200 OK", &document, origin);
        }
        http_response("404 Not Found", &[], "")
    }
}

/// Encodes a JSON response. `{origin}` in its strings stands for the origin of the server.
fn json_response(status: &str, value: &Value, origin: &str) -> Vec<u8> {
    http_response(status, &[JSON], value.to_string().replace("{origin}", origin))
}

fn error_response(code: &str, description: Option<&str>) -> Vec<u8> {
    let mut body = json!({ "error": code });
    if let Some(description) = description {
        body["error_description"] = json!(description);
    }
    json_response("400 Bad Request", &body, "")
}
