//! Servers that do as they are told and write down what they saw.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use switchboard_http::{
    Address, HttpClient, HttpClientOptions, HttpError, PlainHttp, Request, Response, Timeouts,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Long enough for any machine, and far from any limit a test sets.
pub(crate) const LONG: Duration = Duration::from_secs(120);
/// A limit that a test waits for.
pub(crate) const SHORT: Duration = Duration::from_millis(600);

/// What a server saw.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) connections: AtomicUsize,
    requests: Mutex<Vec<String>>,
}

impl Log {
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Head and body of each request.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn add(&self, request: &str) {
        self.requests.lock().unwrap().push(request.to_owned());
    }
}

/// A server that lives as long as this.
pub(crate) struct Server {
    pub(crate) at: SocketAddr,
    pub(crate) log: Arc<Log>,
    task: JoinHandle<()>,
}

impl Server {
    /// Gives each connection to this.
    pub(crate) async fn each<F, W>(handle: F) -> Self
    where
        F: Fn(TcpStream, Arc<Log>) -> W + Send + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let log = Arc::new(Log::default());
        let seen = Arc::clone(&log);
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                seen.connections.fetch_add(1, Ordering::SeqCst);
                connections.spawn(handle(stream, Arc::clone(&seen)));
            }
        });
        Self { at, log, task }
    }

    /// Answers each request with what this makes of it, over connections that stay open.
    pub(crate) async fn answering(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let answer = Arc::new(answer);
        Self::each(move |mut stream, log| {
            let answer = Arc::clone(&answer);
            async move {
                while let Some(request) = read_request(&mut stream).await {
                    log.add(&request);
                    if stream.write_all(&answer(&request)).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }

    pub(crate) fn address(&self, path: &str) -> Address {
        address(&self.url(path))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads one request with its body, or nothing at the end.
pub(crate) async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.map(|length| length.trim().parse().unwrap()).unwrap_or_default();
    while bytes.len() < head + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A response with a length.
pub(crate) fn ok(body: &str) -> Vec<u8> {
    reply("200 OK", &[], body.as_bytes())
}

pub(crate) fn reply(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let mut reply = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for header in headers {
        reply.push_str(header);
        reply.push_str("\r\n");
    }
    [reply.as_bytes(), b"\r\n", body].concat()
}

pub(crate) fn address(text: &str) -> Address {
    Address::parse(text, PlainHttp::Allowed).unwrap()
}

pub(crate) fn client() -> HttpClient {
    HttpClient::new(HttpClientOptions::default()).unwrap()
}

pub(crate) fn get(address: Address) -> Request {
    Request::new(Method::GET, address)
}

pub(crate) fn post(address: Address, body: &'static str) -> Request {
    Request::new(Method::POST, address).with_body(body)
}

pub(crate) fn impatient() -> Timeouts {
    Timeouts::default().with_headers(Some(SHORT)).with_idle(Some(SHORT))
}

/// Sends, within a time no test should need.
pub(crate) async fn send(client: &HttpClient, request: Request) -> Result<Response, HttpError> {
    tokio::time::timeout(LONG, client.send(request)).await.expect("every wait ends")
}

pub(crate) async fn text(response: Response) -> String {
    let body = tokio::time::timeout(LONG, response.body.collect(1 << 20)).await.expect("every wait ends");
    String::from_utf8(body.unwrap().to_vec()).unwrap()
}
