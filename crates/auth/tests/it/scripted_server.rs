//! An MCP server and its authorization server on one loopback port, whose answers a test queues by path.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use switchboard_http::{Address, PlainHttp};
use switchboard_testkit::{HttpScript, http_response};

const JSON: &str = "content-type: application/json";
const SERVER_METADATA: &str = "/.well-known/oauth-authorization-server";

type Queues = HashMap<String, VecDeque<Vec<u8>>>;

/// The server. A path without a queued answer repeats its last one; without any, `/mcp` accepts the tokens that start with
/// `good`, metadata is complete, and `/token` issues `good-1`, `good-2` and so on.
pub(crate) struct ScriptedServer {
    script: HttpScript,
    queues: Arc<Mutex<Queues>>,
}

impl ScriptedServer {
    pub(crate) async fn start() -> Self {
        let queues = Arc::new(Mutex::new(Queues::new()));
        let (answers, tokens) = (Arc::clone(&queues), Mutex::new(0));
        let script = HttpScript::per_request(move |request| {
            let path = request.split(' ').nth(1).unwrap_or_default();
            let path = path.split('?').next().unwrap_or_default();
            if let Some(queue) = answers.lock().unwrap().get_mut(path)
                && let Some(first) = queue.front().cloned()
            {
                if queue.len() > 1 {
                    queue.pop_front();
                }
                return first;
            }
            default_answer(request, path, &mut tokens.lock().unwrap())
        })
        .await;
        Self { script, queues }
    }

    pub(crate) fn address(&self) -> Address {
        Address::parse(&self.script.url("/mcp"), PlainHttp::LoopbackOnly).unwrap()
    }

    /// Returns the URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        self.script.url(path)
    }

    /// Answers the next request for a path with a status, headers and a JSON body. The last queued answer is repeated.
    pub(crate) fn queue(&self, path: &str, status: &str, headers: &[&str], body: &Value) {
        let headers: Vec<&str> = headers.iter().copied().chain([JSON]).collect();
        let answer = http_response(status, &headers, body.to_string());
        self.queues.lock().unwrap().entry(path.to_owned()).or_default().push_back(answer);
    }

    /// Adds members to the metadata of the authorization server.
    pub(crate) fn extend_metadata(&self, members: &Value) {
        let mut metadata = server_metadata(&self.url(""));
        for (name, value) in members.as_object().unwrap() {
            metadata[name] = value.clone();
        }
        self.queue(SERVER_METADATA, "200 OK", &[], &metadata);
    }

    /// Returns head and body of the requests for a path, in order.
    pub(crate) fn requests(&self, path: &str) -> Vec<String> {
        let is_path = |request: &String| {
            let target = request.split(' ').nth(1).unwrap_or_default();
            target.split('?').next() == Some(path)
        };
        self.script.log.requests().into_iter().filter(is_path).collect()
    }

    /// Returns the forms that were posted to a path, in order.
    pub(crate) fn forms(&self, path: &str) -> Vec<HashMap<String, String>> {
        let form = |request: &String| {
            let body = request.split_once("\r\n\r\n").unwrap().1;
            form_urlencoded::parse(body.as_bytes()).into_owned().collect()
        };
        self.requests(path).iter().map(form).collect()
    }
}

fn server_metadata(origin: &str) -> Value {
    json!({
        "issuer": origin,
        "authorization_endpoint": format!("{origin}/authorize"),
        "token_endpoint": format!("{origin}/token"),
        "registration_endpoint": format!("{origin}/register"),
        "code_challenge_methods_supported": ["S256"],
    })
}

fn default_answer(request: &str, path: &str, tokens: &mut u32) -> Vec<u8> {
    let host = request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let origin = format!("http://{host}");
    match path {
        "/mcp" => match request.contains("authorization: Bearer good")
            || request.contains("authorization: DPoP good")
        {
            true => http_response("200 OK", &[], ""),
            false => http_response("401 Unauthorized", &["www-authenticate: Bearer"], ""),
        },
        "/.well-known/oauth-protected-resource/mcp" => {
            let metadata = json!({"resource": format!("{origin}/mcp"), "authorization_servers": [origin]});
            http_response("200 OK", &[JSON], metadata.to_string())
        }
        SERVER_METADATA => http_response("200 OK", &[JSON], server_metadata(&origin).to_string()),
        "/register" => http_response("201 Created", &[JSON], json!({"client_id": "registered"}).to_string()),
        "/token" => {
            *tokens += 1;
            let token =
                json!({"access_token": format!("good-{tokens}"), "token_type": "Bearer", "expires_in": 3600});
            http_response("200 OK", &[JSON], token.to_string())
        }
        _ => http_response("404 Not Found", &[], ""),
    }
}
