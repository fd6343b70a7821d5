//! An MCP server over HTTP that misbehaves as a script says, and records the requests it received.
//!
//! A request that the script does not cover gets the answer of a correct server, in the era of the request.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::client::HttpLimits;
use switchboard::client::{ClientSession, Limits, RevisionPolicy};
use switchboard::{Client, Http};
use switchboard_testkit::{HttpScript, STEP_TIMEOUT, http_response, read_request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// A limit that a test waits for.
pub(crate) const SHORT: Duration = Duration::from_millis(500);

pub(crate) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A request that the server received.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) head: String,
    pub(crate) body: Value,
    /// Number of earlier requests with the same HTTP method and the same MCP method.
    pub(crate) before: usize,
}

impl ReceivedRequest {
    pub(crate) fn verb(&self) -> &str {
        self.head.split(' ').next().unwrap()
    }

    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))
    }
}

/// Reply of the script to a request.
pub(crate) enum Reply {
    /// These bytes; the connection stays.
    Bytes(Vec<u8>),
    /// These bytes one at a time, each in a packet of its own.
    Split(Vec<u8>),
    /// These bytes, and the connection is cut.
    Cut(Vec<u8>),
    /// These bytes, and then these again and again, until the other side hangs up.
    Hold(Vec<u8>, Duration, &'static [u8]),
}

/// Returns the reply to a request, or `None` for that of a correct server.
pub(crate) type Script = dyn Fn(&ReceivedRequest) -> Option<Reply> + Send + Sync;

/// The server.
pub(crate) struct ScriptedServer {
    url: String,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    left: watch::Receiver<usize>,
    _server: HttpScript,
}

impl ScriptedServer {
    pub(crate) async fn start(
        script: impl Fn(&ReceivedRequest) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let seen: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let (told, left) = watch::channel(0);
        let (log, script): (_, Arc<Script>) = (Arc::clone(&seen), Arc::new(script));
        let server = HttpScript::per_connection(move |stream, _| {
            serve(stream, Arc::clone(&log), Arc::clone(&script), told.clone())
        })
        .await;
        Self { url: server.url("/mcp"), seen, left, _server: server }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn seen(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().unwrap().clone()
    }

    /// How many requests with this HTTP method or this method of the protocol came.
    pub(crate) fn count(&self, what: &str) -> usize {
        self.seen().iter().filter(|seen| seen.verb() == what || seen.method() == what).count()
    }

    /// Waits until a held connection was left by the other side.
    pub(crate) async fn left(&self, within: Duration) {
        let mut left = self.left.clone();
        let waited = tokio::time::timeout(within, left.wait_for(|count| *count > 0)).await;
        waited.expect("the client hangs up in time").unwrap();
    }

    pub(crate) fn http(&self) -> Http {
        Http::new(&self.url).limits(limits())
    }

    /// A session of the modern era.
    pub(crate) async fn modern(&self) -> ClientSession {
        Client::new().with_limits(patience()).connect(self.http()).await.unwrap()
    }

    /// A session of the legacy era.
    pub(crate) async fn legacy(&self) -> ClientSession {
        let client = Client::new().with_limits(patience()).with_revisions(RevisionPolicy::LegacyOnly);
        client.connect(self.http()).await.unwrap()
    }
}

/// Limits that no test waits long for.
pub(crate) fn limits() -> HttpLimits {
    let mut limits = HttpLimits::default();
    limits.backoff = ms(10);
    limits.body_idle = SHORT;
    limits.stream_start = ms(300);
    limits.session_end = ms(500);
    limits
}

pub(crate) fn patience() -> Limits {
    let mut limits = Limits::default();
    limits.startup = STEP_TIMEOUT;
    limits.call_idle = STEP_TIMEOUT;
    limits
}

async fn serve(
    mut stream: TcpStream,
    log: Arc<Mutex<Vec<ReceivedRequest>>>,
    script: Arc<Script>,
    left: watch::Sender<usize>,
) {
    while let Some(request) = read_request(&mut stream).await {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let body = serde_json::from_str(body).unwrap_or_default();
        let mut seen = ReceivedRequest { head: head.to_owned(), body, before: 0 };
        {
            let mut log = log.lock().unwrap();
            let same = |one: &&ReceivedRequest| one.verb() == seen.verb() && one.method() == seen.method();
            seen.before = log.iter().filter(same).count();
            log.push(seen.clone());
        }
        let said = script(&seen).unwrap_or_else(|| Reply::Bytes(honest(&seen)));
        let kept = match said {
            Reply::Bytes(bytes) => stream.write_all(&bytes).await.is_ok(),
            Reply::Split(bytes) => write_split(&mut stream, &bytes).await,
            Reply::Cut(bytes) => {
                let _ = stream.write_all(&bytes).await;
                false
            }
            Reply::Hold(bytes, every, again) => {
                let _ = stream.write_all(&bytes).await;
                hold(&mut stream, every, again).await;
                left.send_modify(|count| *count += 1);
                false
            }
        };
        if !kept {
            return;
        }
    }
}

async fn write_split(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    for byte in bytes {
        if stream.write_all(std::slice::from_ref(byte)).await.is_err() {
            return false;
        }
        tokio::task::yield_now().await;
    }
    true
}

async fn hold(stream: &mut TcpStream, every: Duration, again: &[u8]) {
    let mut tick = tokio::time::interval(every);
    let mut heard = [0; 64];
    loop {
        tokio::select! {
            read = stream.read(&mut heard) => if read.unwrap_or(0) == 0 { return },
            _ = tick.tick(), if !again.is_empty() => if stream.write_all(again).await.is_err() { return },
        }
    }
}

/// A JSON document.
pub(crate) fn document(body: &Value) -> Vec<u8> {
    http_response("200 OK", &["content-type: application/json"], body.to_string())
}

/// A whole event stream.
pub(crate) fn events(body: &str) -> Vec<u8> {
    http_response("200 OK", &["content-type: text/event-stream"], body)
}

/// The beginning of an event stream, which ends with the connection.
pub(crate) fn stream(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{body}").into_bytes()
}

/// A stream in chunks, of which the last has not come yet: its end is a break.
pub(crate) fn chunked(body: &str) -> Vec<u8> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    format!("{head}{:x}\r\n{body}\r\n", body.len()).into_bytes()
}

/// The text of a tool's result for this request.
pub(crate) fn result(seen: &ReceivedRequest, text: &str) -> Value {
    let content = json!({"resultType": "complete", "content": [{"type": "text", "text": text}]});
    json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": content})
}

/// Returns the response of a correct server.
pub(crate) fn honest(seen: &ReceivedRequest) -> Vec<u8> {
    let id = &seen.body["id"];
    let answer = |result: Value| document(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    match (seen.verb(), seen.method()) {
        ("GET", _) => http_response("405 Method Not Allowed", &["allow: POST"], ""),
        ("DELETE", _) => http_response("200 OK", &[], ""),
        (_, "server/discover") => answer(json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "far", "version": "1"}, "ttlMs": 0, "cacheScope": "private",
        })),
        (_, "initialize") => {
            let result = json!({
                "protocolVersion": seen.body["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "far", "version": "1"},
            });
            let headers = [
                "content-type: application/json".to_owned(),
                format!("mcp-session-id: session-{}", seen.before + 1),
            ];
            let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
            http_response("200 OK", &[&headers[0], &headers[1]], &body)
        }
        (_, "tools/list") => answer(json!({
            "resultType": "complete", "tools": [{"name": "t", "inputSchema": {"type": "object"}}],
            "ttlMs": 0, "cacheScope": "private",
        })),
        (_, "tools/call") => document(&result(seen, "done")),
        _ if id.is_null() => http_response("202 Accepted", &[], ""),
        _ => answer(json!({"resultType": "complete"})),
    }
}
