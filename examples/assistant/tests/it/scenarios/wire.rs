//! The client's end of a connection, by hand: messages out, messages in. None of our own client takes part.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use switchboard::Server;
use switchboard::server::{HttpListener, HttpServerOptions, HttpService};
use switchboard::transport::link::{Frame, FrameQueue, Inlet, Outlet};
use switchboard::transport::{LinkError, Pipe};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long anything that must come may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The client's end of a connection.
pub(crate) struct Wire {
    way: Way,
    arriving: UnboundedReceiver<Value>,
    // Goes with the wire, and takes the process with it.
    _child: Option<tokio::process::Child>,
}

enum Way {
    Lines(UnboundedSender<String>),
    Http(Box<Posts>),
}

impl Wire {
    /// In memory.
    pub(crate) fn in_memory(server: Arc<Server>) -> Self {
        let (out, from_us) = unbounded_channel();
        let (to_us, arriving) = unbounded_channel();
        let pipe = Pipe::new(Leaving(Some(to_us)), Arriving(from_us));
        tokio::spawn(async move { server.serve(pipe).await });
        Self { way: Way::Lines(out), arriving, _child: None }
    }

    /// Over the stdin and stdout of this process.
    pub(crate) fn of_child(mut child: tokio::process::Child) -> Self {
        let mut stdin = child.stdin.take().expect("stdin is piped");
        let stdout = child.stdout.take().expect("stdout is piped");
        let (out, mut leaving) = unbounded_channel::<String>();
        let (to_us, arriving) = unbounded_channel();
        tokio::spawn(async move {
            while let Some(line) = leaving.recv().await {
                if stdin.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        tokio::spawn(async move {
            let mut lines = BufReader::new(stdout).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message = serde_json::from_str(&line).unwrap_or_else(|_| json!({"not a message": line}));
                if to_us.send(message).is_err() {
                    return;
                }
            }
        });
        Self { way: Way::Lines(out), arriving, _child: Some(child) }
    }

    /// Over HTTP, at an address of our own.
    pub(crate) async fn over_http(
        server: &Arc<Server>,
        revision: &str,
        modern: bool,
        accept: Option<&str>,
    ) -> Result<Self, String> {
        let listener = HttpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await;
        let listener = listener.map_err(|error| error.to_string())?;
        let address = listener.address().map_err(|error| error.to_string())?;
        tokio::spawn(listener.serve(HttpService::new(server, HttpServerOptions::default())));
        let (to_us, arriving) = unbounded_channel();
        let posts = Posts {
            address,
            revision: revision.to_owned(),
            modern,
            accept: accept.unwrap_or("application/json, text/event-stream").to_owned(),
            session: Arc::default(),
            to_us,
        };
        Ok(Self { way: Way::Http(Box::new(posts)), arriving, _child: None })
    }

    /// Sends a message.
    pub(crate) fn send(&self, message: &Value) {
        match &self.way {
            Way::Lines(out) => drop(out.send(message.to_string())),
            Way::Http(posts) => posts.send(message),
        }
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Result<Value, String> {
        let next = tokio::time::timeout(PATIENCE, self.arriving.recv()).await;
        next.map_err(|_| "nothing came".to_owned())?.ok_or_else(|| "the connection ended".to_owned())
    }
}

/// Each message is a request of its own.
#[derive(Clone)]
struct Posts {
    address: SocketAddr,
    revision: String,
    modern: bool,
    accept: String,
    session: Arc<Mutex<Option<String>>>,
    to_us: UnboundedSender<Value>,
}

impl Posts {
    fn send(&self, message: &Value) {
        let (posts, message) = (self.clone(), message.clone());
        tokio::spawn(async move {
            if let Err(error) = posts.post(&message).await {
                let _ = posts.to_us.send(json!({"the post failed": error}));
            }
        });
    }

    async fn post(&self, message: &Value) -> Result<(), String> {
        let told = |error: &dyn std::fmt::Display| error.to_string();
        let stream = tokio::net::TcpStream::connect(self.address).await.map_err(|error| told(&error))?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| told(&error))?;
        tokio::spawn(connection);
        let mut request = hyper::Request::post("/mcp")
            .header("host", self.address.to_string())
            .header("content-type", "application/json")
            .header("accept", &self.accept);
        let method = message["method"].as_str().unwrap_or_default();
        if method != "initialize" {
            request = request.header("mcp-protocol-version", &self.revision);
        }
        if self.modern {
            request = request.header("mcp-method", method);
            let name = message["params"]["name"].as_str().or(message["params"]["uri"].as_str());
            if let Some(name) =
                name.filter(|_| matches!(method, "tools/call" | "prompts/get" | "resources/read"))
            {
                request = request.header("mcp-name", name);
            }
        }
        if let Some(session) = self.session.lock().expect("nobody panics").as_ref() {
            request = request.header("mcp-session-id", session);
        }
        let body = Full::new(Bytes::from(message.to_string()));
        let request = request.body(body).map_err(|error| told(&error))?;
        let response = sender.send_request(request).await.map_err(|error| told(&error))?;
        if let Some(session) = response.headers().get("mcp-session-id") {
            let session = session.to_str().map_err(|error| told(&error))?.to_owned();
            *self.session.lock().expect("nobody panics") = Some(session);
        }
        let kind =
            response.headers().get("content-type").map(|kind| kind.to_str().unwrap_or_default().to_owned());
        let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut body = response.into_body();
        let mut text = String::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| told(&error))?;
            text.push_str(&String::from_utf8_lossy(frame.data_ref().unwrap_or(&Bytes::new())));
            while let Some((event, rest)) = text.split_once("\n\n").filter(|_| is_stream) {
                let data: String = event.lines().filter_map(|line| line.strip_prefix("data:")).collect();
                if let Ok(message) = serde_json::from_str(&data) {
                    let _ = self.to_us.send(message);
                }
                text = rest.to_owned();
            }
        }
        if !is_stream && !text.is_empty() {
            let _ =
                self.to_us.send(serde_json::from_str(&text).map_err(|error| format!("{error} in {text}"))?);
        }
        Ok(())
    }
}

struct Leaving(Option<UnboundedSender<Value>>);

struct Arriving(UnboundedReceiver<String>);

impl Outlet for Leaving {
    fn poll_send(&mut self, _: &mut Context<'_>, queue: &mut FrameQueue) -> Poll<Result<(), LinkError>> {
        while let Some(frame) = queue.pop_frame() {
            let message =
                serde_json::from_slice(&frame).map_err(|_| LinkError::lost("that was not a message"))?;
            if self.0.as_ref().is_none_or(|out| out.send(message).is_err()) {
                return Poll::Ready(Err(LinkError::lost("the other side is gone")));
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.0 = None;
        Poll::Ready(Ok(()))
    }
}

impl Inlet for Arriving {
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        match std::task::ready!(self.0.poll_recv(cx)) {
            Some(line) => into.push(Frame::Message(Bytes::from(line))),
            None => return Poll::Ready(Err(LinkError::lost("the other side is gone"))),
        }
        Poll::Ready(Ok(()))
    }
}
