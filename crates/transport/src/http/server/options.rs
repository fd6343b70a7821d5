//! What can be set for serving over HTTP, with defaults that are safe to leave.

use std::sync::Arc;
use std::time::Duration;

use crate::http::server::store::{MemoryStore, SessionStore};

/// How a server is served over HTTP. The defaults are safe; each can be set.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The path of the endpoint.
    pub path: String,
    /// Hosts that requests may name, each with or without a port. Empty: the loopback names only.
    pub allowed_hosts: Vec<String>,
    /// Origins that browsers may come from, as `scheme://host[:port]`. Empty: loopback origins only.
    pub allowed_origins: Vec<String>,
    /// The largest request body.
    pub body_bytes: usize,
    /// How long a request body may take in all.
    pub body_time: Duration,
    /// A body slower than this many bytes a second is given up once [`Self::body_patience`] is over.
    pub body_rate: usize,
    /// How long a slow body is borne before its rate counts.
    pub body_patience: Duration,
    /// Answer a tool call as an event stream whenever the client names that type, not only when it is needed.
    pub sse_when_accepted: bool,
    /// How often a silent event stream gets a comment, so that nothing on the way gives it up.
    pub keep_alive: Duration,
    /// How long a client may read nothing of its event stream before it is given up.
    pub write_stall: Duration,
    /// How many bytes may wait for a client that reads slowly; notifications beyond it are dropped and counted.
    pub stream_bytes: usize,
    /// How long a session may be idle.
    pub session_idle: Duration,
    /// How many sessions there may be; beyond it the longest idle one gives way.
    pub sessions: usize,
    /// Events kept for each session, for clients that come back.
    pub replay_events: usize,
    /// Bytes of events kept for each session.
    pub replay_bytes: usize,
    /// Where sessions are kept.
    pub store: Arc<dyn SessionStore>,
    /// The two endpoints of the binding of 2024, for clients that know no other.
    pub legacy_sse: Option<LegacySse>,
}

/// The endpoints of the HTTP+SSE binding of 2024.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LegacySse {
    /// Where clients open their event stream.
    pub stream_path: String,
    /// Where they post their messages.
    pub message_path: String,
}

impl Default for LegacySse {
    fn default() -> Self {
        Self { stream_path: "/sse".into(), message_path: "/messages".into() }
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            path: "/mcp".into(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            body_bytes: 4 * 1024 * 1024,
            body_time: seconds(30),
            body_rate: 1024,
            body_patience: seconds(5),
            sse_when_accepted: false,
            keep_alive: seconds(15),
            write_stall: seconds(30),
            stream_bytes: 1024 * 1024,
            session_idle: seconds(30 * 60),
            sessions: 10_000,
            replay_events: 1024,
            replay_bytes: 4 * 1024 * 1024,
            store: Arc::new(MemoryStore::default()),
            legacy_sse: None,
        }
    }
}

impl std::fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpOptions").field("path", &self.path).finish_non_exhaustive()
    }
}
