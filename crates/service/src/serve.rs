//! Serving a service in process, over stdio and over HTTP.

#[cfg(feature = "http")]
use std::net::SocketAddr;
#[cfg(feature = "http-tls")]
use std::sync::Arc;

use switchboard_session::client::Client;
use switchboard_session::server::InProcess;
use switchboard_session::{CallError, ClientSession};
#[cfg(feature = "http-tls")]
use switchboard_transport::http::server::TlsIdentity;
#[cfg(feature = "http")]
use switchboard_transport::http::server::{HttpListener, HttpServerOptions, HttpService, ListenerLimits};

use crate::{BuildError, ServiceBuilder};

/// Why serving a service failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The server cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The session cannot be opened.
    #[error(transparent)]
    Open(#[from] CallError),
    /// The address cannot be bound, or stdio cannot be used.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The address is reachable from other machines, and access is not restricted.
    #[error(
        "{0} is reachable from other machines, and every request would be served: serve on 127.0.0.1, or pass \
         `HttpServeConfig::new(address).options(…)` with `HttpServerOptions::with_authenticate` or `HttpServerOptions::with_allowed_hosts`"
    )]
    Unprotected(std::net::SocketAddr),
    /// The connection failed.
    #[error("{0}")]
    Link(#[from] switchboard_session::link::LinkError),
}

impl ServiceBuilder {
    /// Opens an in-process session with the service.
    ///
    /// # Errors
    /// When the server cannot be built.
    pub async fn connect(self) -> Result<ClientSession, ServeError> {
        self.connect_with(&Client::new()).await
    }

    /// As [`Self::connect`], with a configured client, for example one with handlers or a fixed revision.
    ///
    /// # Errors
    /// When the server cannot be built, or client and server share no revision.
    pub async fn connect_with(self, client: &Client) -> Result<ClientSession, ServeError> {
        let server = self.build()?;
        Ok(client.connect(InProcess::new(&server)).await?)
    }

    /// Serves the parent process over stdin and stdout until it disconnects.
    ///
    /// From then on stdout carries only protocol messages; other output to stdout is redirected to stderr.
    ///
    /// # Errors
    /// When the server cannot be built, stdio is already in use, or the connection fails.
    #[cfg(feature = "stdio")]
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        let server = self.build()?;
        match server.serve(switchboard_transport::stdio::take_stdio()?).await {
            switchboard_session::link::LinkError::Closed => Ok(()),
            broken => Err(broken.into()),
        }
    }

    /// Converts the builder to an HTTP service, to be mounted in a router, in axum with
    /// `Router::new().route_service("/mcp", service)`.
    ///
    /// # Errors
    /// When the server cannot be built.
    #[cfg(feature = "http")]
    pub fn into_http_service(
        self,
        options: switchboard_transport::http::server::HttpServerOptions,
    ) -> Result<switchboard_transport::http::server::HttpService, BuildError> {
        let server = self.for_http(&options).build()?;
        Ok(switchboard_transport::http::server::HttpService::new(&server, options))
    }

    /// Serves over HTTP at `/mcp` of the address, or as [`HttpServeConfig`] says, until the future is dropped. Also
    /// serves the plain JSON-RPC endpoint if the design has one and the feature `rpc` is on.
    ///
    /// # Errors
    /// When the server cannot be built, the address cannot be bound, or it is reachable from other machines and
    /// neither authentication nor allowed hosts are set.
    #[cfg(feature = "http")]
    pub async fn serve_http(self, config: impl Into<HttpServeConfig>) -> Result<(), ServeError> {
        let config: HttpServeConfig = config.into();
        let HttpServeConfig { address, options, limits, .. } = config;
        if !address.ip().is_loopback() && options.authenticate.is_none() && options.allowed_hosts.is_empty() {
            return Err(ServeError::Unprotected(address));
        }
        #[cfg_attr(not(feature = "http-tls"), expect(unused_mut, reason = "changed by TLS"))]
        let mut listener = HttpListener::bind(address).await?.with_limits(limits);
        #[cfg(feature = "http-tls")]
        if let Some(identity) = config.tls {
            listener = listener.with_tls(identity);
        }
        #[cfg(feature = "rpc")]
        if self.design().rpc.is_some() {
            listener.serve(crate::rpc::CombinedService::from_builder(&self, options)?).await;
            return Ok(());
        }
        listener.serve(HttpService::new(&self.for_http(&options).build()?, options)).await;
        Ok(())
    }
}

/// Address and options of a service served over HTTP. Converts from an address, with default options.
///
/// ```
/// use switchboard::service::HttpServeConfig;
/// use switchboard::transport::http::server::{AcceptPolicy, HttpServerOptions};
///
/// let config = HttpServeConfig::new("127.0.0.1:8080".parse().unwrap())
///     .options(HttpServerOptions::default().with_path("/assistant").with_accept(AcceptPolicy::Named));
/// # let _ = config;
/// ```
#[cfg(feature = "http")]
#[derive(Debug, Clone)]
pub struct HttpServeConfig {
    address: SocketAddr,
    options: HttpServerOptions,
    limits: ListenerLimits,
    #[cfg(feature = "http-tls")]
    tls: Option<Arc<TlsIdentity>>,
}

#[cfg(feature = "http")]
impl HttpServeConfig {
    /// Creates a configuration with default options.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            options: HttpServerOptions::default(),
            limits: ListenerLimits::default(),
            #[cfg(feature = "http-tls")]
            tls: None,
        }
    }

    /// Sets path, accept policy, authentication, and the limits of requests, sessions and streams.
    #[must_use]
    pub fn options(mut self, options: HttpServerOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the connection limits.
    #[must_use]
    pub fn limits(mut self, limits: ListenerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Serves encrypted connections only, with this certificate.
    #[cfg(feature = "http-tls")]
    #[must_use]
    pub fn tls(mut self, identity: impl Into<Arc<TlsIdentity>>) -> Self {
        self.tls = Some(identity.into());
        self
    }
}

#[cfg(feature = "http")]
impl From<SocketAddr> for HttpServeConfig {
    fn from(address: SocketAddr) -> Self {
        Self::new(address)
    }
}
