//! A server at an address: what is sent along, how long is waited, and which links there are.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use switchboard_http::{
    Address, AddressError, Authorizer, HttpClient, HttpError, HttpOptions, NoAuth, PlainHttp,
};
use switchboard_session::link::{BoxFuture, Dial, Link, LinkError, Rung};
use switchboard_session::{Peer, PeerLimits};

use crate::http::client::Wire;
use crate::http::client::failure::link_error;
use crate::http::client::stateful::Stateful;
use crate::http::client::stateless::Stateless;
use crate::sse::client::connect;

/// How much is taken over HTTP, and how long is waited.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpLimits {
    /// The largest document or event.
    pub event_bytes: usize,
    /// How long a document may pause between its bytes.
    pub body_idle: Duration,
    /// How often a read is sent again when the server is busy.
    pub retries: u32,
    /// The first wait before that; it doubles.
    pub backoff: Duration,
    /// How long the beginning of an event stream may take.
    pub stream_start: Duration,
    /// How long a stream of what the server starts may be silent before it is opened anew.
    pub stream_idle: Duration,
    /// How long leaving a session may take.
    pub leave: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            event_bytes: 16 * 1024 * 1024,
            body_idle: seconds(30),
            retries: 3,
            backoff: Duration::from_millis(500),
            stream_start: seconds(10),
            stream_idle: seconds(300),
            leave: seconds(2),
        }
    }
}

/// Which binding is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// Whatever the server has.
    #[default]
    Auto,
    /// Streamable HTTP.
    Streamable,
    /// HTTP+SSE, the binding of 2024.
    Sse,
}

/// A server at an address. Connect with `Client::connect(Http::new("https://…")?)`.
#[derive(Clone)]
pub struct Http {
    address: Address,
    headers: HeaderMap,
    authorizer: Arc<dyn Authorizer>,
    options: HttpOptions,
    limits: HttpLimits,
    way: Way,
}

impl Http {
    /// The server at this address. It is checked before anything is connected: http or https, a host, no user name, no
    /// fragment; plain http on this machine only.
    ///
    /// # Errors
    /// Says what is wrong with the address.
    pub fn new(url: &str) -> Result<Self, AddressError> {
        Self::parsed(Address::parse(url, PlainHttp::LoopbackOnly)?)
    }

    /// The same for a server that may be reached over plain http anywhere. What is sent can be read on the way.
    ///
    /// # Errors
    /// Says what is wrong with the address.
    pub fn new_allowing_plain(url: &str) -> Result<Self, AddressError> {
        Self::parsed(Address::parse(url, PlainHttp::Allowed)?)
    }

    fn parsed(address: Address) -> Result<Self, AddressError> {
        Ok(Self {
            address,
            headers: HeaderMap::new(),
            authorizer: Arc::new(NoAuth),
            options: HttpOptions::from_environment(),
            limits: HttpLimits::default(),
            way: Way::Auto,
        })
    }

    /// With a header on every request.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// With credentials.
    #[must_use]
    pub fn with_authorizer(mut self, authorizer: Arc<dyn Authorizer>) -> Self {
        self.authorizer = authorizer;
        self
    }

    /// With these options of the client: certificates, proxies, time-outs of the connection.
    #[must_use]
    pub fn with_options(mut self, options: HttpOptions) -> Self {
        self.options = options;
        self
    }

    /// With these limits.
    #[must_use]
    pub fn with_limits(mut self, limits: HttpLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Over this binding.
    #[must_use]
    pub fn with_way(mut self, way: Way) -> Self {
        self.way = way;
        self
    }

    /// The address.
    pub fn address(&self) -> &Address {
        &self.address
    }

    fn wire(&self) -> Result<Arc<Wire>, HttpError> {
        let client = HttpClient::new(self.options.clone())?;
        let (address, headers) = (self.address.clone(), self.headers.clone());
        let authorizer = Arc::clone(&self.authorizer);
        Ok(Arc::new(Wire::new(client, address, headers, authorizer, self.limits.clone())))
    }

    async fn link(&self, rung: Rung, previous: Option<Arc<dyn Link>>) -> Result<Arc<dyn Link>, LinkError> {
        let wire = || self.wire().map_err(|error| link_error(&error));
        match (self.way, rung, previous) {
            (Way::Sse, Rung::Legacy, Some(previous)) if previous.ended().is_none() => Ok(previous),
            (Way::Sse, ..) | (_, Rung::Oldest, _) => {
                Ok(Peer::start(connect(wire()?).await?, PeerLimits::default()))
            }
            (_, Rung::Modern, _) => Ok(Arc::new(Stateless::new(wire()?))),
            (_, Rung::Legacy, _) => Ok(Arc::new(Stateful::new(wire()?))),
        }
    }
}

impl Dial for Http {
    fn may_die_of_the_probe(&self) -> bool {
        self.way == Way::Sse
    }

    fn has_oldest(&self) -> bool {
        self.way == Way::Auto
    }

    fn dial(
        &self,
        rung: Rung,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(self.link(rung, previous))
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("address", &self.address).field("way", &self.way).finish_non_exhaustive()
    }
}
