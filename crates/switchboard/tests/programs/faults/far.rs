//! The far side of a pipe in memory, in the test's own hands: it reads lines and writes bytes, and decides when.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard::client::ClientSession;
use switchboard::transport::MuxLink;
use switchboard::transport::link::SingleLink;
use switchboard::transport::stdio::{LineInlet, LineOutlet};
use switchboard::transport::{ConnectionLimits, LinkError, Pipe};
use switchboard::{CallError, Client, Server};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::task::JoinHandle;

use crate::faults::sessions::legacy;

/// What lies between the two sides.
pub(crate) const ROOM: usize = 64 * 1024;

/// The far side.
pub(crate) struct Far {
    input: BufReader<ReadHalf<DuplexStream>>,
    output: Option<WriteHalf<DuplexStream>>,
}

impl Far {
    /// The far side, and the pipe of the near one.
    pub(crate) fn new(room: usize) -> (Self, Pipe) {
        Self::with_line_limit(room, 16 * 1024 * 1024)
    }

    pub(crate) fn with_line_limit(room: usize, limit: usize) -> (Self, Pipe) {
        let (near, far) = duplex(room);
        let (source, sink) = split(near);
        let pipe = Pipe::new(LineOutlet::new(sink), LineInlet::new(source).with_limit(limit));
        let (input, output) = split(far);
        // Small, so that what was not asked for stays in the pipe.
        (Self { input: BufReader::with_capacity(64, input), output: Some(output) }, pipe)
    }

    /// The next message as text; empty at the end.
    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        self.input.read_line(&mut line).await.unwrap();
        line.truncate(line.trim_end_matches('\n').len());
        line
    }

    /// The next message.
    pub(crate) async fn hear(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The next message with this method; others are passed over.
    pub(crate) async fn hear_of(&mut self, method: &str) -> Value {
        loop {
            let heard = self.hear().await;
            if heard["method"] == method {
                return heard;
            }
        }
    }

    /// So many bytes of what comes next, as they are.
    pub(crate) async fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.input.read_exact(&mut bytes).await.unwrap();
        bytes
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    /// Writes these bytes, however long the near side takes.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.output.as_mut().expect("not hung up").write_all(bytes).await.unwrap();
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    /// Answers a call of a tool with this text.
    pub(crate) async fn answer_text(&mut self, request: &Value, text: &str) {
        self.answer(request, json!({"content": [{"type": "text", "text": text}]})).await;
    }

    /// Answers `initialize`, which comes next, in the revision asked for.
    pub(crate) async fn welcome(&mut self) {
        let request = self.hear_of("initialize").await;
        self.welcome_to(&request).await;
        self.hear_of("notifications/initialized").await;
    }

    pub(crate) async fn welcome_to(&mut self, request: &Value) {
        let result = json!({
            "protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "far", "version": "1"},
        });
        self.answer(request, result).await;
    }

    /// Ends what we write; reading goes on.
    pub(crate) async fn hang_up(&mut self) {
        self.output.take().expect("not hung up").shutdown().await.unwrap();
    }
}

/// An open session with the far side in our hands.
pub(crate) struct Held {
    pub(crate) session: ClientSession,
    pub(crate) far: Far,
    pub(crate) peer: Arc<MuxLink>,
}

/// Opens a legacy session.
pub(crate) async fn open() -> Held {
    open_with(&legacy(), ConnectionLimits::default(), ROOM).await.unwrap()
}

pub(crate) async fn open_with(
    client: &Client,
    limits: ConnectionLimits,
    room: usize,
) -> Result<Held, CallError> {
    let (mut far, pipe) = Far::new(room);
    let peer = MuxLink::start(pipe, limits);
    let (session, ()) = tokio::join!(client.connect(SingleLink::new(peer.clone())), far.welcome());
    Ok(Held { session: session?, far, peer })
}

/// Opens a modern session with a server that answers the probe.
pub(crate) async fn open_modern() -> Held {
    let (mut far, pipe) = Far::new(ROOM);
    let peer = MuxLink::start(pipe, ConnectionLimits::default());
    let client = Client::new();
    let (session, ()) = tokio::join!(client.connect(SingleLink::new(peer.clone())), async {
        let probe = far.hear_of("server/discover").await;
        far.answer(&probe, discovered()).await;
    });
    Held { session: session.unwrap(), far, peer }
}

/// What a modern server says of itself.
pub(crate) fn discovered() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "ttlMs": 0,
        "cacheScope": "private",
    })
}

/// A server being served, with its client in our hands.
pub(crate) struct Served {
    pub(crate) far: Far,
    pub(crate) serving: JoinHandle<LinkError>,
}

/// Serves a pipe in memory and shakes hands in this revision.
pub(crate) async fn serve(server: &Arc<Server>, revision: &str) -> Served {
    let mut served = serve_unopened(server, ROOM, 16 * 1024 * 1024);
    let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "far", "version": "1"}});
    served.far.say(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
    assert_eq!(served.far.hear().await["result"]["protocolVersion"], revision);
    served.far.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    served
}

pub(crate) fn serve_unopened(server: &Arc<Server>, room: usize, line_limit: usize) -> Served {
    let (far, pipe) = Far::with_line_limit(room, line_limit);
    let server = Arc::clone(server);
    Served { far, serving: tokio::spawn(async move { server.serve(pipe).await }) }
}

impl Served {
    /// The client leaves; the server must end soon.
    pub(crate) async fn leave(mut self) {
        self.far.hang_up().await;
        self.serving.await.unwrap();
    }
}
