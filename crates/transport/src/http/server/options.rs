//! What can be set for serving over HTTP, with defaults that are safe to leave.

use std::sync::Arc;
use std::time::Duration;

use crate::http::server::accept::AcceptPolicy;
use crate::http::server::authenticate::Authenticate;
use crate::http::server::budget::ByteBudget;
use crate::http::server::client_id::{AddressRange, ForwardedHeader};
use crate::http::server::store::{MemoryStore, SessionStore};
use crate::http::server::visitor::Lift;

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
    /// How the answer follows what the client accepts.
    pub accept: AcceptPolicy,
    /// Answer a tool call as an event stream whenever the client names that type, not only when it is needed.
    pub sse_when_accepted: bool,
    /// How often a silent event stream gets a comment, so that nothing on the way gives it up.
    pub keep_alive: Duration,
    /// How long a client may read nothing of its event stream before it is given up.
    pub write_stall: Duration,
    /// How many bytes may wait for a client that reads slowly; notifications beyond it are dropped and counted.
    pub stream_bytes: usize,
    /// How many streams may only listen: the rest of the connections is left to ordinary requests.
    pub streams: usize,
    /// How many of them one client may have: an authenticated principal, or else an address.
    pub streams_per_client: usize,
    /// How many of them may come from one address, whoever opened them.
    pub streams_per_address: usize,
    /// How long a session may be idle.
    pub session_idle: Duration,
    /// How many sessions there may be; beyond it the longest idle one gives way. Where all are in use, newcomers are
    /// answered with 503.
    pub sessions: usize,
    /// How many of them one client may have: an authenticated principal, or else an address. Beyond it the client's own
    /// longest idle one gives way.
    pub sessions_per_client: usize,
    /// Events kept for each session, for clients that come back.
    pub replay_events: usize,
    /// Bytes of events kept for each session.
    pub replay_bytes: usize,
    /// Bytes of events kept for clients that come back, of all sessions and of those of one client. Beyond it the log of
    /// the longest idle session is dropped.
    pub replay_budget: ByteBudget,
    /// Bytes of events that wait to be read, on all streams and on those of one client. Beyond it the stream that has not
    /// been read for longest is ended.
    pub stream_budget: ByteBudget,
    /// Proxies whose word on the address of a client is taken. Without one, the client is the other end of the connection.
    pub trusted_proxies: Vec<AddressRange>,
    /// The header in which they name the client. The others say nothing: a client may have written them.
    pub forwarded_header: ForwardedHeader,
    /// Where sessions are kept.
    pub store: Arc<dyn SessionStore>,
    /// The two endpoints of the binding of 2024, for clients that know no other.
    pub legacy_sse: Option<LegacySse>,
    /// Who tells callers apart; without one, everybody is let in and nobody is known.
    pub authenticate: Option<Arc<dyn Authenticate>>,
    /// Where the metadata of this protected resource is (RFC 9728): clients that are refused are told.
    pub resource_metadata: Option<String>,
    pub(crate) lifts: Option<Arc<[Lift]>>,
}

impl HttpOptions {
    /// Tells callers apart: handlers get theirs from [`RequestContext::caller`](switchboard_session::server::RequestContext::caller), and
    /// what belongs to one, such as a session, is nobody else's.
    ///
    /// ```
    /// use switchboard::session::server::Caller;
    /// use switchboard::transport::http::server::{HttpOptions, Refused};
    ///
    /// let options = HttpOptions::default().with_authenticate(|head: &http::request::Parts| {
    ///     match head.headers.get("authorization").map(|token| token.as_bytes()) {
    ///         Some(b"Bearer of ada") => Ok(Some(Caller::new("ada").with_scopes(["notes:read"]))),
    ///         Some(_) => Err(Refused::invalid_token()),
    ///         None => Err(Refused::no_token().with_scopes(["notes:read"])),
    ///     }
    /// });
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn with_authenticate(mut self, authenticate: impl Authenticate) -> Self {
        self.authenticate = Some(Arc::new(authenticate));
        self
    }

    /// Where the metadata of this protected resource is (RFC 9728).
    #[must_use]
    pub fn with_resource_metadata(mut self, url: impl Into<String>) -> Self {
        self.resource_metadata = Some(url.into());
        self
    }

    /// Hands what a layer in front of the service puts into requests on to handlers, who get it from
    /// [`RequestContext::extension`](switchboard_session::server::RequestContext::extension) by its type. Everything else is in
    /// [`RequestHead::extensions`](crate::http::server::RequestHead::extensions).
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self) -> Self {
        let known = self.lifts.iter().flat_map(|lifts| lifts.iter().copied());
        self.lifts = Some(known.chain([Lift::of::<T>()]).collect());
        self
    }

    /// The path of the endpoint.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Hosts that requests may name, each with or without a port.
    #[must_use]
    pub fn with_allowed_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed_hosts = hosts.into_iter().map(Into::into).collect();
        self
    }

    /// Proxies whose word on the address of a client is taken, and the header in which they give it.
    #[must_use]
    pub fn with_trusted_proxies(
        mut self,
        proxies: impl IntoIterator<Item = AddressRange>,
        header: ForwardedHeader,
    ) -> Self {
        self.trusted_proxies = proxies.into_iter().collect();
        self.forwarded_header = header;
        self
    }

    /// How the answer follows what the client accepts.
    #[must_use]
    pub fn with_accept(mut self, accept: AcceptPolicy) -> Self {
        self.accept = accept;
        self
    }
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
            accept: AcceptPolicy::default(),
            sse_when_accepted: false,
            keep_alive: seconds(15),
            write_stall: seconds(30),
            stream_bytes: 1024 * 1024,
            streams: 7_500,
            streams_per_client: 64,
            streams_per_address: 192,
            session_idle: seconds(30 * 60),
            sessions: 10_000,
            sessions_per_client: 2_500,
            replay_events: 1024,
            replay_bytes: 4 * 1024 * 1024,
            replay_budget: ByteBudget::new(32 * 1024 * 1024, 8 * 1024 * 1024),
            stream_budget: ByteBudget::new(32 * 1024 * 1024, 16 * 1024 * 1024),
            trusted_proxies: Vec::new(),
            forwarded_header: ForwardedHeader::default(),
            store: Arc::new(MemoryStore::default()),
            legacy_sse: None,
            authenticate: None,
            resource_metadata: None,
            lifts: None,
        }
    }
}

impl std::fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpOptions").field("path", &self.path).finish_non_exhaustive()
    }
}
