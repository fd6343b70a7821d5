//! Our server, and raw connections to it: bytes as a client of any kind might send them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::Server;
use switchboard::client::RevisionPolicy;
use switchboard::protocol::{
    CallToolResult, Content, Implementation, Level, Raw, RpcError, ServerCapabilities, Tool,
};
use switchboard::protocol::{ListCapability, ListToolsResult, Settings};
use switchboard::server::{
    Handler, HandlerOutcome, HttpListener, HttpServerOptions, HttpService, ListenerLimits, RequestContext,
    ServerRequest,
};
use switchboard_testkit::STEP_TIMEOUT;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// What happened to calls, for tests to wait for.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) started: AtomicUsize,
    pub(crate) cancelled: AtomicUsize,
    pub(crate) finished: AtomicUsize,
    changed: Notify,
    pub(crate) go: Notify,
}

impl Told {
    fn tell(&self, count: &AtomicUsize) {
        count.fetch_add(1, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    pub(crate) fn of(count: &AtomicUsize) -> usize {
        count.load(Ordering::SeqCst)
    }

    /// Waits until the count is this.
    pub(crate) async fn until(&self, count: &AtomicUsize, at_least: usize) {
        let waiting = async {
            loop {
                let changed = self.changed.notified();
                if Self::of(count) >= at_least {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(STEP_TIMEOUT, waiting).await.expect("it happens in time");
    }
}

/// A call under way; dropped before its end, it was cancelled.
struct Running(Arc<Told>, bool);

impl Running {
    fn new(told: &Arc<Told>) -> Self {
        told.tell(&told.started);
        Self(Arc::clone(told), false)
    }

    fn finish(mut self) {
        self.1 = true;
        self.0.tell(&self.0.finished);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.1 {
            self.0.tell(&self.0.cancelled);
        }
    }
}

struct Fixture(Arc<Told>);

impl Handler for Fixture {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let ServerRequest::CallTool(call) = request else {
            return match request {
                ServerRequest::ListTools(_) => HandlerOutcome::now(ListToolsResult::new([Tool::new(
                    "echo",
                    json!({ "type": "object" }),
                )])),
                other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
            };
        };
        let done = |text: &str| Ok(CallToolResult::new([Content::text(text)]).into());
        let told = Arc::clone(&self.0);
        match call.name.as_str() {
            "echo" => HandlerOutcome::now(CallToolResult::new([Content::text(
                call.arguments.as_ref().map_or("", Raw::as_str),
            )])),
            "speaks" => HandlerOutcome::later(async move {
                cx.progress(1.0, Some(2.0), None);
                cx.log(Level::Warning, None, "working");
                tokio::task::yield_now().await;
                done("spoken")
            }),
            "speaks_and_echoes" => HandlerOutcome::later(async move {
                cx.progress(1.0, Some(2.0), None);
                tokio::task::yield_now().await;
                done(call.arguments.as_ref().map_or("", Raw::as_str))
            }),
            "fails" => HandlerOutcome::later(async { Err(RpcError::invalid_params("it cannot be done")) }),
            "speaks_and_fails" => HandlerOutcome::later(async move {
                cx.progress(1.0, Some(2.0), None);
                tokio::task::yield_now().await;
                Err(RpcError::invalid_params("it cannot be done"))
            }),
            "waits" => HandlerOutcome::later(async move {
                let running = Running::new(&told);
                told.go.notified().await;
                running.finish();
                done("waited")
            }),
            "floods" => HandlerOutcome::later(async move {
                let _running = Running::new(&told);
                let long = "x".repeat(32 * 1024);
                for step in 1_u32.. {
                    cx.progress(f64::from(step), None, Some(&long));
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                done("never")
            }),
            "panics" => panic!("by design"),
            "panics_later" => HandlerOutcome::later(async { panic!("by design") }),
            other => HandlerOutcome::error(RpcError::invalid_params(format!("there is no tool {other:?}"))),
        }
    }
}

/// Our server on a free port.
pub(crate) struct Stand {
    pub(crate) at: SocketAddr,
    pub(crate) told: Arc<Told>,
    pub(crate) stop: Box<dyn Fn() + Send + Sync>,
    pub(crate) task: JoinHandle<()>,
}

impl Drop for Stand {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Stand {
    pub(crate) async fn open() -> Self {
        Self::with(HttpServerOptions::default(), ListenerLimits::default(), RevisionPolicy::Any).await
    }

    pub(crate) async fn with(
        options: HttpServerOptions,
        limits: ListenerLimits,
        offer: RevisionPolicy,
    ) -> Self {
        let told: Arc<Told> = Arc::default();
        let offers = ServerCapabilities::new()
            .with_tools(ListCapability::new().with_list_changed(true))
            .with_logging(Settings::new());
        let info = Implementation::new("fixture", "1.0.0");
        let server = Server::builder(info, offers).revisions(offer).build(Fixture(Arc::clone(&told)));
        let listener = HttpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let listener = listener.with_limits(limits);
        let (at, stopper) = (listener.address().unwrap(), listener.shutdown_handle());
        let task = tokio::spawn(listener.serve(HttpService::new(&server, options)));
        Self { at, told, stop: Box::new(move || stopper.stop()), task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.at)
    }

    pub(crate) async fn connect(&self) -> Wire {
        Wire { stream: TcpStream::connect(self.at).await.unwrap(), bytes: Vec::new() }
    }

    /// One request on a connection of its own.
    pub(crate) async fn ask(&self, request: &[u8]) -> Answer {
        let mut wire = self.connect().await;
        wire.write(request).await;
        wire.answer().await
    }

    /// A session of the legacy era, by its id.
    pub(crate) async fn initialize(&self) -> String {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let answer = self.ask(&post(&[], &body.to_string())).await;
        answer.header("mcp-session-id").expect("a session was opened").to_owned()
    }
}

/// A raw connection.
pub(crate) struct Wire {
    pub(crate) stream: TcpStream,
    bytes: Vec<u8>,
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value))
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The messages it brought: one document, or the data of its events.
    pub(crate) fn messages(&self) -> Vec<Value> {
        if !self.is_stream() {
            return vec![serde_json::from_str(&self.body).unwrap()];
        }
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:").map(str::trim));
        data.filter(|data| !data.is_empty()).map(|data| serde_json::from_str(data).unwrap()).collect()
    }

    /// The last message: the answer itself.
    pub(crate) fn last(&self) -> Value {
        self.messages().pop().unwrap()
    }
}

impl Wire {
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        // A server that has seen enough hangs up; what it said is read all the same.
        let _ = self.stream.write_all(bytes).await;
    }

    async fn more(&mut self) -> bool {
        let read = self.stream.read_buf(&mut self.bytes);
        let read = tokio::time::timeout(STEP_TIMEOUT, read).await.expect("the server says something in time");
        read.is_ok_and(|count| count > 0)
    }

    /// Reads until what came has this in it, and takes it all.
    pub(crate) async fn until(&mut self, needle: &str) -> String {
        loop {
            let text = String::from_utf8_lossy(&self.bytes).into_owned();
            if text.contains(needle) {
                self.bytes.clear();
                return text;
            }
            assert!(self.more().await, "the connection ended before {needle:?}: {text}");
        }
    }

    /// Reads to the end of the connection.
    pub(crate) async fn end(&mut self) -> Vec<u8> {
        while self.more().await {}
        std::mem::take(&mut self.bytes)
    }

    /// One whole answer.
    pub(crate) async fn answer(&mut self) -> Answer {
        let head = loop {
            if let Some(end) = self.bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                let rest = self.bytes.split_off(end + 4);
                break String::from_utf8(std::mem::replace(&mut self.bytes, rest)).unwrap();
            }
            assert!(self.more().await, "no answer: {:?}", String::from_utf8_lossy(&self.bytes));
        };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer { status, head, body: String::new() };
        if answer.header("transfer-encoding") == Some("chunked") {
            while !self.bytes.ends_with(b"0\r\n\r\n") {
                assert!(self.more().await, "the stream was cut");
            }
            answer.body = dechunked(&std::mem::take(&mut self.bytes));
        } else {
            let length: usize = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
            while self.bytes.len() < length {
                assert!(self.more().await, "the body was cut");
            }
            let rest = self.bytes.split_off(length);
            answer.body = String::from_utf8(std::mem::replace(&mut self.bytes, rest)).unwrap();
        }
        answer
    }
}

fn dechunked(mut bytes: &[u8]) -> String {
    let mut whole = Vec::new();
    while let Some(line) = bytes.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..line]).unwrap(), 16).unwrap();
        whole.extend_from_slice(&bytes[line + 2..line + 2 + length]);
        bytes = &bytes[(line + 4 + length).min(bytes.len())..];
        if length == 0 {
            break;
        }
    }
    String::from_utf8(whole).unwrap()
}

/// A request with any verb, any headers and a body.
pub(crate) fn request(verb: &str, headers: &[&str], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!(
        "{verb} /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A post of JSON.
pub(crate) fn post(headers: &[&str], body: &str) -> Vec<u8> {
    let headers: Vec<&str> = headers.iter().copied().chain(["content-type: application/json"]).collect();
    request("POST", &headers, body)
}

/// A modern request that is in order, with these headers besides.
pub(crate) fn modern(id: &Value, method: &str, params: Value, headers: &[&str]) -> Vec<u8> {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "p",
    });
    let (method_header, name) =
        (format!("mcp-method: {method}"), params["name"].as_str().map(|name| format!("mcp-name: {name}")));
    let mut all = vec!["mcp-protocol-version: 2026-07-28", &*method_header];
    all.extend(name.as_deref());
    all.extend(headers);
    post(&all, &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
}

/// A modern call of a tool.
pub(crate) fn call(tool: &str, headers: &[&str]) -> Vec<u8> {
    modern(&json!(1), "tools/call", json!({"name": tool, "arguments": {}}), headers)
}

/// A call of a tool in a session.
pub(crate) fn legacy_call(session: &str, tool: &str, id: u32) -> Vec<u8> {
    let session = format!("mcp-session-id: {session}");
    let params = json!({"name": tool, "arguments": {}, "_meta": {"progressToken": "p"}});
    let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    let accept = "accept: application/json, text/event-stream";
    post(&[&session, accept], &body.to_string())
}
