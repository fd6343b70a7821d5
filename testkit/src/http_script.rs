//! HTTP servers on loopback that answer as a script says, byte for byte, and record what they receive.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::trial::current_thread;

/// Connections and requests that a server received.
#[derive(Debug, Default)]
pub struct RequestLog {
    connections: AtomicUsize,
    requests: Mutex<Vec<String>>,
}

impl RequestLog {
    /// Returns the number of connections.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns head and body of each request.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// Records a request.
    pub fn add(&self, request: &str) {
        self.requests.lock().unwrap().push(request.to_owned());
    }
}

/// A scripted server. Dropping it closes all connections.
#[derive(Debug)]
pub struct HttpScript {
    /// Where it listens.
    pub address: SocketAddr,
    /// What it received.
    pub log: Arc<RequestLog>,
    task: JoinHandle<()>,
}

impl HttpScript {
    /// Starts a server that handles each connection with this function, which records the requests itself.
    pub async fn per_connection<F, W>(handle: F) -> Self
    where
        F: Fn(TcpStream, Arc<RequestLog>) -> W + Send + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::new(RequestLog::default());
        let received = Arc::clone(&log);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                received.connections.fetch_add(1, Ordering::SeqCst);
                connections.spawn(handle(stream, Arc::clone(&received)));
            }
        });
        Self { address, log, task }
    }

    /// Starts a server that answers each request with the bytes of this function and keeps the connection.
    pub async fn per_request(respond: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let respond = Arc::new(respond);
        Self::per_connection(move |mut stream, log| {
            let respond = Arc::clone(&respond);
            async move {
                while let Some(request) = read_request(&mut stream).await {
                    log.add(&request);
                    if stream.write_all(&respond(&request)).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await
    }

    /// As [`per_request`](Self::per_request), on a thread of its own, for a test without a runtime.
    pub fn in_background(respond: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let (sender, receiver) = std::sync::mpsc::channel();
        // The thread ends with the test program.
        std::thread::spawn(move || {
            current_thread().build().unwrap().block_on(async move {
                sender.send(Self::per_request(respond).await).unwrap();
                std::future::pending::<()>().await;
            });
        });
        receiver.recv().unwrap()
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

impl Drop for HttpScript {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads one request, head and body; `None` at the end of the stream, or if it is not HTTP, such as a TLS handshake.
pub async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 || !bytes[0].is_ascii_uppercase() {
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

/// Encodes a response with a length; each header is a line without its end.
pub fn http_response(status: &str, headers: &[&str], body: impl AsRef<[u8]>) -> Vec<u8> {
    let (headers, body): (String, _) =
        (headers.iter().map(|header| format!("{header}\r\n")).collect(), body.as_ref());
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Encodes a response with status 200.
pub fn ok_response(body: &str) -> Vec<u8> {
    http_response("200 OK", &[], body)
}
