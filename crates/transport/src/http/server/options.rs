//! Options of the HTTP server, with safe defaults.

use std::sync::Arc;
use std::time::Duration;

use switchboard_http::{ProtectedResource, Verifier};

use crate::http::server::authenticate::ChallengeContext;
use crate::http::server::bearer::BearerAuthenticator;
use crate::http::server::pending_request::ForwardedExtension;
use crate::http::server::{
    AcceptPolicy, AddressRange, Authenticate, ByteBudget, ForwardedHeader, MemoryStore, ReplicaName,
    SessionStore,
};

/// Options of the HTTP server. The defaults are safe.
///
/// ```
/// use switchboard::server::{HttpServerOptions, HttpService};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let options = HttpServerOptions::default()
///     .with_path("/tools")
///     .with_allowed_hosts(["mcp.example.org"])
///     .with_resource_metadata("https://mcp.example.org/.well-known/oauth-protected-resource");
/// assert_eq!(HttpService::new(&demo::server(), options).path(), "/tools");
/// # demo::done() });
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpServerOptions {
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
    /// A body slower than this many bytes a second is rejected once [`Self::body_patience`] is over.
    pub body_rate: usize,
    /// How long a body may take before its rate is checked.
    pub body_patience: Duration,
    /// How the reply format is selected from the `Accept` header.
    pub accept: AcceptPolicy,
    /// Answer a tool call as an event stream whenever the client names that type, not only when it is needed.
    pub sse_when_accepted: bool,
    /// Interval of keep-alive comments on an idle event stream.
    pub keep_alive: Duration,
    /// How long a write to a client may stall before its connection is closed.
    pub write_stall: Duration,
    /// How many bytes may wait for a slow client; further notifications are dropped.
    pub stream_bytes: usize,
    /// Maximum number of listening streams; the other connections remain for ordinary requests.
    pub streams: usize,
    /// Maximum per client: an authenticated principal, or else an address.
    pub streams_per_client: usize,
    /// Maximum per address, whatever the principal.
    pub streams_per_address: usize,
    /// How long a session may be idle.
    pub session_idle: Duration,
    /// Maximum number of sessions; beyond it the longest idle one is evicted. If all are in use, the response is 503.
    pub sessions: usize,
    /// Maximum per client: an authenticated principal, or else an address. Beyond it the client's own longest idle one is
    /// evicted.
    pub sessions_per_client: usize,
    /// Events kept for replay, per session.
    pub replay_events: usize,
    /// Bytes of events kept for replay, per session.
    pub replay_bytes: usize,
    /// Bytes of events kept for replay, of all sessions and of those of one client. Beyond it the log of the longest idle
    /// session is dropped.
    pub replay_budget: ByteBudget,
    /// Bytes of events that wait to be read, on all streams and on those of one client. Beyond it the stream that has not
    /// been read for longest is ended.
    pub stream_budget: ByteBudget,
    /// Proxies that are trusted to report the client address. Without one, it is the peer address of the connection.
    pub trusted_proxies: Vec<AddressRange>,
    /// The header in which they report it. Other headers are ignored: a client may have sent them.
    pub forwarded_header: ForwardedHeader,
    /// The name of this process among the replicas of the server: session ids begin with it.
    pub replica: ReplicaName,
    /// The session store.
    pub store: Arc<dyn SessionStore>,
    /// The two endpoints of the HTTP+SSE binding of 2024, for old clients.
    pub legacy_sse: Option<LegacySse>,
    /// Clients by the name in their `clientInfo` that get status 200 with the error of a request whose client lacks a capability,
    /// whose method is unknown or which is invalid; the specification asks for 400 and 404. For clients that take such a status
    /// for the end of their session. Empty: none.
    pub ok_status_clients: Vec<String>,
    /// The authenticator; without one, every request is admitted anonymously.
    pub authenticate: Option<Arc<dyn Authenticate>>,
    /// URL of the protected resource metadata (RFC 9728), sent to clients that are rejected.
    pub resource_metadata: Option<String>,
    /// The description of the resource, served at its well-known paths.
    pub(crate) protected_resource: Option<Arc<ProtectedResource>>,
    pub(crate) forwarded_extensions: Option<Arc<[ForwardedExtension]>>,
}

impl HttpServerOptions {
    /// Authenticates requests: handlers get the caller from [`RequestContext::caller`](switchboard_session::server::RequestContext::caller), and
    /// sessions are bound to the caller who began them.
    ///
    /// ```
    /// use switchboard::server::Caller;
    /// use switchboard::transport::http::server::{HttpServerOptions, AuthRejection};
    ///
    /// let options = HttpServerOptions::default().with_authenticate(|head: &http::request::Parts| {
    ///     match head.headers.get("authorization").map(|token| token.as_bytes()) {
    ///         Some(b"Bearer of ada") => Ok(Some(Caller::new("ada").with_scopes(["notes:read"]))),
    ///         Some(_) => Err(AuthRejection::invalid_token()),
    ///         None => Err(AuthRejection::no_token().with_scopes(["notes:read"])),
    ///     }
    /// });
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn with_authenticate(mut self, authenticate: impl Authenticate) -> Self {
        self.authenticate = Some(Arc::new(authenticate));
        self
    }

    /// Sets the URL of the protected resource metadata (RFC 9728).
    #[must_use]
    pub fn with_resource_metadata(mut self, url: impl Into<String>) -> Self {
        self.resource_metadata = Some(url.into());
        self
    }

    /// Authenticates requests by their bearer token, which the verifier checks. Requests without a valid one are answered
    /// with 401 and a challenge. If the verifier describes the resource, the challenges name its metadata, and the
    /// document is served at its well-known paths.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use switchboard::auth::ResourceServer;
    /// use switchboard::server::HttpServerOptions;
    ///
    /// let resource = ResourceServer::new("https://notes.example.org/mcp").issuer("https://login.example.org");
    /// let options = HttpServerOptions::default()
    ///     .with_allowed_hosts(["notes.example.org"])
    ///     .with_verifier(Arc::new(resource.build()?));
    /// assert_eq!(
    ///     options.resource_metadata.as_deref(),
    ///     Some("https://notes.example.org/.well-known/oauth-protected-resource/mcp")
    /// );
    /// # Ok::<(), switchboard::auth::ResourceServerError>(())
    /// ```
    #[must_use]
    pub fn with_verifier(mut self, verifier: Arc<dyn Verifier>) -> Self {
        if let Some(resource) = verifier.protected_resource() {
            self.resource_metadata = Some(resource.metadata_url.clone());
            self.protected_resource = Some(Arc::new(resource.clone()));
        }
        self.with_authenticate(BearerAuthenticator::new(verifier))
    }

    /// Returns whether a verifier describes the resource, so that clients learn where to log in.
    pub fn is_protected_resource(&self) -> bool {
        self.protected_resource.is_some()
    }

    /// Returns what all challenges say.
    pub(crate) fn challenge_context(&self) -> ChallengeContext<'_> {
        let dpop = self.protected_resource.as_ref().and_then(|resource| resource.dpop.as_ref());
        ChallengeContext { metadata: self.resource_metadata.as_deref(), dpop }
    }

    /// Forwards a type of request extension, added by a layer in front of the service, to handlers, which get it from
    /// [`RequestContext::extension`](switchboard_session::server::RequestContext::extension) by its type. All extensions are in
    /// [`RequestHead::extensions`](crate::http::server::RequestHead::extensions).
    #[must_use]
    pub fn with_extension<T: Send + Sync + 'static>(mut self) -> Self {
        let known = self
            .forwarded_extensions
            .iter()
            .flat_map(|forwarded_extensions| forwarded_extensions.iter().copied());
        self.forwarded_extensions = Some(known.chain([ForwardedExtension::of::<T>()]).collect());
        self
    }

    /// Sets the path of the endpoint.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets the hosts that requests may name, each with or without a port.
    #[must_use]
    pub fn with_allowed_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.allowed_hosts = hosts.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the proxies that are trusted to report the client address, and the header in which they do.
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

    /// Sets the name of this process among the replicas of the server.
    #[must_use]
    pub fn with_replica(mut self, replica: ReplicaName) -> Self {
        self.replica = replica;
        self
    }

    /// Sets the clients, by the name in their `clientInfo`, that get status 200 with errors of their requests.
    #[must_use]
    pub fn with_ok_status_clients(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.ok_status_clients = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how the reply format is selected from the `Accept` header.
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

impl Default for HttpServerOptions {
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
            replica: ReplicaName::of_process(),
            store: Arc::new(MemoryStore::default()),
            legacy_sse: None,
            ok_status_clients: Vec::new(),
            authenticate: None,
            resource_metadata: None,
            protected_resource: None,
            forwarded_extensions: None,
        }
    }
}

impl std::fmt::Debug for HttpServerOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpServerOptions").field("path", &self.path).finish_non_exhaustive()
    }
}
