//! A hostile authorization server, and the MCP server that accepts its tokens, on one loopback port.
//!
//! Refresh tokens rotate, and a reused one revokes its family. Each token request is answered by the next behavior that the
//! test queued; without one the server rotates.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::json;
use switchboard_http::{Address, PlainHttp};
use switchboard_testkit::{HttpScript, http_response, read_request, wait_until};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::watch;

const JSON: &str = "content-type: application/json";

/// How a refresh is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenBehavior {
    /// The refresh token stays valid and is not repeated.
    WithoutRefreshToken,
    WithoutExpiry,
    /// Waits for [`AuthorizationServer::release`], rotates, and issues an access token that the MCP server refuses.
    StallAndIssueUnusable,
    /// Waits for [`AuthorizationServer::release`], and rotates then.
    StallBeforeRotation,
    /// Rotates, and waits for [`AuthorizationServer::release`] to answer.
    StallAfterRotation,
    /// Waits for [`AuthorizationServer::release`], and rejects the token then.
    StallAndReject,
    /// Rejects the token.
    Reject,
    /// Does not rotate, and answers with a page.
    Page(&'static str),
    /// Does not rotate, and answers with an OAuth error.
    Error(&'static str),
    /// Rotates, and answers with bytes that are no JSON.
    UnreadableAnswer,
}

#[derive(Default)]
struct State {
    families: Vec<Family>,
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
}

/// The tokens of one login: `a0-3` and `r0-3` are those of login 0 after 3 refreshes.
#[derive(Default)]
struct Family {
    refresh_serial: usize,
    access_serial: usize,
    is_revoked: bool,
    is_access_expired: bool,
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
        let shared = Arc::new(Shared {
            state: Mutex::default(),
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

    /// Returns the URL of the MCP server.
    pub(crate) fn mcp_url(&self) -> String {
        self.script.url("/mcp")
    }

    pub(crate) fn mcp_address(&self) -> Address {
        Address::parse(&self.mcp_url(), PlainHttp::LoopbackOnly).unwrap()
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

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }
}

impl Shared {
    async fn serve(&self, mut stream: TcpStream, log: &switchboard_testkit::RequestLog) {
        self.state.lock().unwrap().connections += 1;
        while let Some(request) = read_request(&mut stream).await {
            log.add(&request);
            let response = self.respond(&request).await;
            if stream.write_all(&response).await.is_err() {
                break;
            }
        }
        self.state.lock().unwrap().connections -= 1;
    }

    async fn respond(&self, request: &str) -> Vec<u8> {
        let origin = format!("http://{}", header(request, "host").unwrap_or_default());
        let path = request.split(' ').nth(1).unwrap_or_default();
        match path {
            "/mcp" => self.respond_as_mcp_server(request, &origin),
            "/.well-known/oauth-protected-resource/mcp" => {
                let metadata =
                    json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]});
                http_response("200 OK", &[JSON], metadata.to_string())
            }
            "/.well-known/oauth-authorization-server" => {
                self.state.lock().unwrap().discoveries += 1;
                let metadata = json!({
                    "issuer": origin,
                    "authorization_endpoint": format!("{origin}/authorize"),
                    "token_endpoint": format!("{origin}/token"),
                    "code_challenge_methods_supported": ["S256"],
                });
                http_response("200 OK", &[JSON], metadata.to_string())
            }
            "/token" => self.respond_as_token_endpoint(request).await,
            _ => http_response("404 Not Found", &[], ""),
        }
    }

    fn respond_as_mcp_server(&self, request: &str, origin: &str) -> Vec<u8> {
        let sent = header(request, "authorization").unwrap_or_default();
        let state = self.state.lock().unwrap();
        let is_valid = state.families.iter().enumerate().any(|(number, family)| {
            !family.is_revoked
                && !family.is_access_expired
                && sent == format!("Bearer {}", access_token(number, family))
        });
        if is_valid {
            return http_response("200 OK", &[], "");
        }
        let challenge = format!(
            "www-authenticate: Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\""
        );
        http_response("401 Unauthorized", &[&challenge], "")
    }

    async fn respond_as_token_endpoint(&self, request: &str) -> Vec<u8> {
        let body = request.split_once("\r\n\r\n").unwrap_or_default().1;
        let form: Vec<(String, String)> = form_urlencoded::parse(body.as_bytes()).into_owned().collect();
        let field = |name: &str| form.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        if field("grant_type").as_deref() == Some("authorization_code") {
            let mut state = self.state.lock().unwrap();
            state.families.push(Family::default());
            let number = state.families.len() - 1;
            return token_answer(number, &state.families[number], true, true);
        }
        let token = field("refresh_token").unwrap_or_default();
        let behavior = {
            let mut state = self.state.lock().unwrap();
            state.presented.push(token.clone());
            state.behaviors.pop_front()
        };
        match behavior {
            None => self.rotate(&token),
            Some(TokenBehavior::WithoutExpiry) => self.refresh(&token, true, false),
            Some(TokenBehavior::WithoutRefreshToken) => self.refresh(&token, false, true),
            Some(TokenBehavior::StallBeforeRotation) => {
                self.stall().await;
                self.rotate(&token)
            }
            Some(TokenBehavior::StallAndIssueUnusable) => {
                self.stall().await;
                let answer = self.rotate(&token);
                self.state.lock().unwrap().expire();
                answer
            }
            Some(TokenBehavior::StallAfterRotation) => {
                let answer = self.rotate(&token);
                self.stall().await;
                answer
            }
            Some(TokenBehavior::StallAndReject) => {
                self.stall().await;
                rejection()
            }
            Some(TokenBehavior::Reject) => rejection(),
            Some(TokenBehavior::Page(status)) => {
                http_response(status, &["content-type: text/html"], "<html>sorry</html>")
            }
            Some(TokenBehavior::Error(code)) => {
                http_response("400 Bad Request", &[JSON], json!({"error": code}).to_string())
            }
            Some(TokenBehavior::UnreadableAnswer) => {
                self.rotate(&token);
                http_response("200 OK", &[JSON], "<html>sorry</html>")
            }
        }
    }

    async fn stall(&self) {
        let mut released = self.released.subscribe();
        let before = *released.borrow();
        self.stalled.send_modify(|stalled| *stalled += 1);
        released.wait_for(|released| *released > before).await.unwrap();
    }

    fn rotate(&self, token: &str) -> Vec<u8> {
        self.refresh(token, true, true)
    }

    fn refresh(&self, token: &str, rotates: bool, has_expiry: bool) -> Vec<u8> {
        let mut state = self.state.lock().unwrap();
        let parsed = token.strip_prefix('r').and_then(|rest| rest.split_once('-'));
        let parsed = parsed.and_then(|(number, serial)| Some((number.parse().ok()?, serial.parse().ok()?)));
        let Some((number, serial)): Option<(usize, usize)> = parsed else { return rejection() };
        let Some(family) = state.families.get_mut(number) else { return rejection() };
        if family.refresh_serial != serial {
            family.is_revoked = true;
            state.reuses += 1;
            return rejection();
        }
        if family.is_revoked {
            return rejection();
        }
        family.access_serial += 1;
        family.is_access_expired = false;
        if rotates {
            family.refresh_serial += 1;
        }
        state.refreshes += 1;
        token_answer(number, &state.families[number], rotates, has_expiry)
    }
}

fn access_token(number: usize, family: &Family) -> String {
    format!("a{number}-{}", family.access_serial)
}

fn token_answer(number: usize, family: &Family, has_refresh_token: bool, has_expiry: bool) -> Vec<u8> {
    let mut answer = json!({"access_token": access_token(number, family), "token_type": "Bearer"});
    if has_refresh_token {
        answer["refresh_token"] = json!(format!("r{number}-{}", family.refresh_serial));
    }
    if has_expiry {
        answer["expires_in"] = json!(3600);
    }
    http_response("200 OK", &[JSON], answer.to_string())
}

fn rejection() -> Vec<u8> {
    let body = json!({"error": "invalid_grant", "error_description": "the refresh token is not valid"});
    http_response("400 Bad Request", &[JSON], body.to_string())
}

fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let head = request.split_once("\r\n\r\n").map_or(request, |(head, _)| head);
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find_map(|(found, value)| found.eq_ignore_ascii_case(name).then_some(value.trim()))
}
