//! Options of the HTTP client.

use std::path::PathBuf;
use std::time::Duration;

use http::header::HeaderValue;

use crate::proxy::Proxies;

/// Options of the HTTP client. The defaults are safe to use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpClientOptions {
    pub(crate) connect_timeout: Duration,
    pub(crate) tls_timeout: Duration,
    pub(crate) idle_connection: Duration,
    pub(crate) extra_roots: Vec<Vec<u8>>,
    pub(crate) proxies: Proxies,
    pub(crate) user_agent: Option<HeaderValue>,
    pub(crate) unix_socket: Option<PathBuf>,
}

impl Default for HttpClientOptions {
    /// Returns the defaults: 10 s to connect, 10 s for TLS, 60 s until an idle connection is closed, the system's root
    /// certificates, no proxy.
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            tls_timeout: Duration::from_secs(10),
            idle_connection: Duration::from_secs(60),
            extra_roots: Vec::new(),
            proxies: Proxies::none(),
            user_agent: Some(HeaderValue::from_static(concat!("switchboard/", env!("CARGO_PKG_VERSION")))),
            unix_socket: None,
        }
    }
}

impl HttpClientOptions {
    /// Returns the defaults with the proxies from the environment variables.
    pub fn from_environment() -> Self {
        Self::default().with_proxies(Proxies::from_environment())
    }

    /// Sets the timeout for name resolution, TCP connection and proxy tunnel together.
    #[must_use]
    pub fn with_connect_timeout(mut self, connect_timeout: Duration) -> Self {
        self.connect_timeout = connect_timeout;
        self
    }

    /// Sets the timeout of the TLS handshake.
    #[must_use]
    pub fn with_tls_timeout(mut self, tls_timeout: Duration) -> Self {
        self.tls_timeout = tls_timeout;
        self
    }

    /// Sets how long an idle connection stays in the pool.
    #[must_use]
    pub fn with_idle_connection(mut self, idle_connection: Duration) -> Self {
        self.idle_connection = idle_connection;
        self
    }

    /// Trusts these certificates besides the system's: one or more, in PEM.
    #[must_use]
    pub fn with_extra_roots(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.extra_roots.push(pem.into());
        self
    }

    /// Sets the proxies.
    #[must_use]
    pub fn with_proxies(mut self, proxies: Proxies) -> Self {
        self.proxies = proxies;
        self
    }

    /// Connects to this Unix socket instead of the host of an address, and not through a proxy. The address still decides
    /// the path and the `Host` header; use `http://localhost`.
    #[must_use]
    pub fn with_unix_socket(mut self, path: impl Into<PathBuf>) -> Self {
        self.unix_socket = Some(path.into());
        self.proxies = Proxies::none();
        self
    }

    /// Sets the default `User-Agent`.
    #[must_use]
    pub fn with_user_agent(mut self, user_agent: Option<HeaderValue>) -> Self {
        self.user_agent = user_agent;
        self
    }
}
