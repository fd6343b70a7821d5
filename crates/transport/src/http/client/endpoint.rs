//! `Http`: the description of a server at an address (headers, authorizer, limits), which dials its links.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use switchboard_http::{
    Address, AddressError, Authorizer, HttpClient, HttpClientOptions, NoAuth, PlainHttp, Secret,
};
use switchboard_session::link::{BoxFuture, Dial, DialStep, Link, LinkError};
use switchboard_session::{ConnectionLimits, MuxLink};

use crate::http::client::failure::link_error;
use crate::http::client::post::HttpSender;
use crate::http::client::sse_2024::connect;
use crate::http::client::stateful::StatefulLink;
use crate::http::client::stateless::StatelessLink;

/// Size limits and timeouts of the HTTP client binding.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// The largest JSON document or event.
    pub event_bytes: usize,
    /// How long a JSON document may pause between its bytes.
    pub body_idle: Duration,
    /// How often a read-only request is retried when the server is overloaded.
    pub retries: u32,
    /// The first backoff before a retry; it doubles.
    pub backoff: Duration,
    /// How long the server may take to open an event stream.
    pub stream_start: Duration,
    /// How long a listening stream may be silent before it is reopened.
    pub stream_idle: Duration,
    /// How long ending a session may take.
    pub session_end: Duration,
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
            session_end: seconds(2),
        }
    }
}

/// The HTTP binding to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpBinding {
    /// Detected: streamable HTTP first, then HTTP+SSE.
    #[default]
    Auto,
    /// Streamable HTTP.
    Streamable,
    /// HTTP+SSE, the binding of 2024.
    Sse,
}

/// A server at an address.
///
/// The address and the headers are checked when a connection is opened; [`Http::check`] checks them before that.
/// Plain `http` is rejected for other machines unless it is [allowed](Http::allow_plain_http).
///
/// Two equal values reach the same server in the same way; authorizers compare by identity.
///
/// ```
/// use switchboard::Http;
///
/// let docs = Http::new("https://example.org/mcp").header("Authorization", "Bearer abc");
/// assert!(docs.check().is_ok());
/// assert!(Http::new("example.org").check().is_err());
/// ```
#[derive(Clone, PartialEq)]
pub struct Http {
    url: String,
    plain: PlainHttp,
    headers: Vec<(String, Secret)>,
    authorizer: Option<SharedAuthorizer>,
    /// `None` uses the options of the environment.
    options: Option<HttpClientOptions>,
    limits: HttpLimits,
    binding: HttpBinding,
}

/// The error of an [`Http`] endpoint whose address or headers are invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndpointError {
    /// The address is invalid, or plain http to another machine.
    Address(AddressError),
    /// A header cannot be sent. The value is not shown, since it may be secret.
    Header {
        /// The name of the header.
        name: String,
    },
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(error) => error.fmt(f),
            Self::Header { name } => write!(
                f,
                "the header {name:?} cannot be sent; a name is letters, digits and `-`, a value is visible ASCII"
            ),
        }
    }
}

impl std::error::Error for EndpointError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Address(error) => Some(error),
            Self::Header { .. } => None,
        }
    }
}

impl Http {
    /// Describes the server at this address. Nothing is checked or connected yet.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            plain: PlainHttp::LoopbackOnly,
            headers: Vec::new(),
            authorizer: None,
            options: None,
            limits: HttpLimits::default(),
            binding: HttpBinding::Auto,
        }
    }

    /// Sends a header with every request. Its value is treated as a secret.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Allows plain `http` to other machines. Everything that is sent can be read on the way.
    #[must_use]
    pub fn allow_plain_http(mut self) -> Self {
        self.plain = PlainHttp::Allowed;
        self
    }

    /// Uses HTTP+SSE only, the binding of 2024.
    #[must_use]
    pub fn sse(self) -> Self {
        self.binding(HttpBinding::Sse)
    }

    /// Authorizes requests with this authorizer.
    #[must_use]
    pub fn authorizer(mut self, authorizer: Arc<dyn Authorizer>) -> Self {
        self.authorizer = Some(SharedAuthorizer(authorizer));
        self
    }

    /// Sets the options of the HTTP client: certificates, proxies, timeouts of the connection.
    #[must_use]
    pub fn options(mut self, options: HttpClientOptions) -> Self {
        self.options = Some(options);
        self
    }

    /// Sets the limits of messages and streams.
    #[must_use]
    pub fn limits(mut self, limits: HttpLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Chooses the binding.
    #[must_use]
    pub fn binding(mut self, binding: HttpBinding) -> Self {
        self.binding = binding;
        self
    }

    /// Returns the address as it was given, unchecked. It may hold secrets in its query.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the headers as they were given, unchecked.
    pub fn headers(&self) -> &[(String, Secret)] {
        &self.headers
    }

    /// Returns whether only HTTP+SSE, the binding of 2024, is used.
    pub fn is_sse(&self) -> bool {
        self.binding == HttpBinding::Sse
    }

    /// Returns whether plain `http` to other machines is allowed.
    pub fn allows_plain_http(&self) -> bool {
        self.plain == PlainHttp::Allowed
    }

    /// Returns whether requests are authorized by an authorizer of this endpoint's own.
    pub fn has_authorizer(&self) -> bool {
        self.authorizer.is_some()
    }

    /// Checks the address and the headers without connecting, and returns the parsed address.
    ///
    /// # Errors
    /// When the address or a header cannot be used.
    pub fn check(&self) -> Result<Address, EndpointError> {
        self.header_map()?;
        self.address()
    }

    fn address(&self) -> Result<Address, EndpointError> {
        Address::parse(&self.url, self.plain).map_err(EndpointError::Address)
    }

    fn header_map(&self) -> Result<HeaderMap, EndpointError> {
        let mut headers = HeaderMap::with_capacity(self.headers.len());
        for (name, value) in &self.headers {
            let invalid = || EndpointError::Header { name: name.clone() };
            let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
            let mut value = HeaderValue::from_str(value.expose()).map_err(|_| invalid())?;
            value.set_sensitive(true);
            headers.append(parsed, value);
        }
        Ok(headers)
    }

    fn sender(&self) -> Result<Arc<HttpSender>, LinkError> {
        let invalid = |error: EndpointError| LinkError::Misconfigured { reason: error.to_string() };
        let (address, headers) = (self.address().map_err(invalid)?, self.header_map().map_err(invalid)?);
        let options = self.options.clone().unwrap_or_else(HttpClientOptions::from_environment);
        let client = HttpClient::new(options).map_err(|error| link_error(&error))?;
        let shared = self.authorizer.clone().unwrap_or_else(|| SharedAuthorizer(Arc::new(NoAuth)));
        Ok(Arc::new(HttpSender::new(client, address, headers, shared.0, self.limits.clone())))
    }

    async fn link(
        &self,
        step: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> Result<Arc<dyn Link>, LinkError> {
        match (self.binding, step, previous) {
            (HttpBinding::Sse, DialStep::Legacy, Some(previous)) if previous.ended().is_none() => {
                Ok(previous)
            }
            (HttpBinding::Sse, ..) | (_, DialStep::Oldest, _) => {
                Ok(MuxLink::start(connect(self.sender()?).await?, ConnectionLimits::default()))
            }
            (_, DialStep::Modern, _) => Ok(Arc::new(StatelessLink::new(self.sender()?))),
            (_, DialStep::Legacy, _) => Ok(Arc::new(StatefulLink::new(self.sender()?))),
        }
    }
}

impl Dial for Http {
    fn probe_may_kill_server(&self) -> bool {
        self.binding == HttpBinding::Sse
    }

    fn has_oldest(&self) -> bool {
        self.binding == HttpBinding::Auto
    }

    fn dial(
        &self,
        step: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(self.link(step, previous))
    }
}

/// An authorizer that compares by identity.
#[derive(Clone)]
struct SharedAuthorizer(Arc<dyn Authorizer>);

impl PartialEq for SharedAuthorizer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither the query nor the values of headers: they may hold secrets.
        let url = self.url.split('?').next().unwrap_or_default();
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Http")
            .field("url", &url)
            .field("headers", &headers)
            .field("binding", &self.binding)
            .finish_non_exhaustive()
    }
}
