//! A console that is served, and a page that reads its events.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_console::{Console, ConsoleHandler, TrafficLog};
use switchboard_host::{Host, HostBuilder, ServerSpec};
use switchboard_testkit::wait_until;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const LIMIT: Duration = Duration::from_secs(60);

/// A console and the key of its page.
pub(crate) struct Page {
    pub(crate) host: Host,
    address: SocketAddr,
    key: String,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Page {
    /// Serves a console of a host with these servers, and waits until they are connected.
    pub(crate) async fn open<S: Into<ServerSpec>>(
        configure: impl FnOnce(HostBuilder) -> HostBuilder,
        servers: impl IntoIterator<Item = (&str, S)>,
    ) -> Self {
        let (handler, traffic) = (ConsoleHandler::new(), Arc::new(TrafficLog::default()));
        let builder = handler.install(Host::builder()).with_traffic_observer(traffic.clone());
        let host = configure(builder).build();
        for (name, spec) in servers {
            host.connect(name, spec).await.unwrap();
        }
        let console = Console::builder(host.clone()).questions(handler).traffic(traffic);
        let console = console.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let link = console.url_with_token().unwrap();
        let (stop, stopped) = oneshot::channel();
        let address = console.address();
        let serving = tokio::spawn(console.serve(async { drop(stopped.await) }));
        let mut page = Self { host, address, key: String::new(), stop, serving };
        let token = link.split_once("#token=").unwrap().1;
        let (status, body) = page.post("/api/key", &json!({ "token": token })).await;
        assert_eq!(status, 200, "{body}");
        page.key = body["key"].as_str().unwrap().to_owned();
        page
    }

    /// Stops the console and its host.
    pub(crate) async fn close(self) {
        self.stop.send(()).unwrap();
        tokio::time::timeout(LIMIT, self.serving).await.unwrap().unwrap();
        self.host.close().await;
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.send("GET", path, "").await
    }

    /// Returns the body of a response with the status 200.
    pub(crate) async fn fetch(&self, path: &str) -> Value {
        let (status, body) = self.get(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send("POST", path, &body.to_string()).await
    }

    /// Starts a call of a tool and returns its number.
    pub(crate) async fn call(&self, server: &str, tool: &str, arguments: &str) -> u64 {
        let (status, body) = self.post("/api/calls", &tool_call(server, tool, arguments)).await;
        assert_eq!(status, 202, "{body}");
        body["call"].as_u64().unwrap()
    }

    /// Waits until a call has finished, and returns its outcome.
    pub(crate) async fn outcome(&self, events: &Events, call: u64) -> Value {
        let finished = |event: &Value| {
            event["type"] == "call"
                && event["call"]["call"] == call
                && event["call"]["state"]["type"] == "finished"
        };
        events.wait_for("the end of the call", finished).await["call"]["state"]["outcome"].clone()
    }

    async fn send(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let (key, address, length) = (&self.key, self.address, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        let exchange = async {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).await.unwrap();
            String::from_utf8(bytes).unwrap()
        };
        let text = tokio::time::timeout(LIMIT, exchange).await.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap())
    }

    /// Reads the events after a number, or from now on.
    pub(crate) async fn events(&self, after: Option<u64>) -> Events {
        let (key, address) = (&self.key, self.address);
        let resume = after.map(|number| format!("Last-Event-ID: {number}\r\n")).unwrap_or_default();
        let request = format!(
            "GET /api/events HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n\
             Accept: text/event-stream\r\n{resume}\r\n"
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut lines = BufReader::new(stream).lines();
        while !lines.next_line().await.unwrap().unwrap().is_empty() {}
        let seen: Arc<Mutex<Vec<(u64, Value)>>> = Arc::default();
        let kept = Arc::clone(&seen);
        let reading = tokio::spawn(async move {
            let mut number = 0;
            while let Ok(Some(line)) = lines.next_line().await {
                if let Some(id) = line.strip_prefix("id: ") {
                    number = id.parse().unwrap();
                } else if let Some(data) = line.strip_prefix("data: ") {
                    kept.lock().push((number, serde_json::from_str(data).unwrap()));
                }
            }
        });
        Events { seen, reading }
    }
}

/// The body that starts a call of a tool.
pub(crate) fn tool_call(server: &str, tool: &str, arguments: &str) -> Value {
    json!({
        "type": "tool", "server": server, "name": tool, "argumentsJson": arguments, "metaJson": null,
        "asTask": false, "confirmed": false, "timeoutMs": null
    })
}

/// The events that a page has read.
pub(crate) struct Events {
    seen: Arc<Mutex<Vec<(u64, Value)>>>,
    reading: JoinHandle<()>,
}

impl Drop for Events {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

impl Events {
    pub(crate) fn all(&self) -> Vec<(u64, Value)> {
        self.seen.lock().clone()
    }

    pub(crate) fn of_type(&self, kind: &str) -> Vec<Value> {
        self.all().into_iter().map(|(_, event)| event).filter(|event| event["type"] == kind).collect()
    }

    /// Waits for the first event that fits.
    pub(crate) async fn wait_for(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let find = || self.seen.lock().iter().map(|(_, event)| event).find(|event| fits(event)).cloned();
        wait_until(what, || find().is_some()).await;
        find().unwrap()
    }

    /// Waits for a question and returns its number.
    pub(crate) async fn question(&self, after: u64) -> Value {
        let is_new = |event: &Value| {
            event["type"] == "question" && event["question"]["question"].as_u64().unwrap() > after
        };
        self.wait_for("a question", is_new).await["question"].clone()
    }
}
