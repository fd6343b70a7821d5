//! A service over every way to reach it: in this process, on stdio, over HTTP.

#[cfg(feature = "http")]
use std::net::SocketAddr;

use switchboard_session::client::Client;
use switchboard_session::server::InProcess;
use switchboard_session::{CallError, ClientSession};
#[cfg(feature = "http")]
use switchboard_transport::http::server::{HttpListener, HttpServerOptions, HttpService, ListenerLimits};

use crate::{BuildError, ServiceBuilder};

/// Why a service is not served, or no longer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The server cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The session cannot be opened.
    #[error(transparent)]
    Open(#[from] CallError),
    /// The address or the pipe cannot be taken.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The address can be reached from other machines, and nothing decides who may.
    #[error(
        "{0} can be reached from other machines, and every request would be served: serve on 127.0.0.1, or pass \
         `ServeHttp::new(address).options(…)` with `HttpServerOptions::with_authenticate` or `HttpServerOptions::with_allowed_hosts`"
    )]
    Unprotected(std::net::SocketAddr),
    /// The connection broke.
    #[error("{0}")]
    Link(#[from] switchboard_session::link::LinkError),
}

impl ServiceBuilder {
    /// A session with the service in this process: nothing is sent anywhere.
    ///
    /// # Errors
    /// When the server cannot be built.
    pub async fn connect(self) -> Result<ClientSession, ServeError> {
        self.connect_with(&Client::new()).await
    }

    /// As [`Self::connect`], with a client that was set up before: to be asked, to speak one revision.
    ///
    /// # Errors
    /// When the server cannot be built, or the two share no revision.
    pub async fn connect_with(self, client: &Client) -> Result<ClientSession, ServeError> {
        let server = self.build()?;
        Ok(client.connect(InProcess::new(&server)).await?)
    }

    /// Serves the program that started this one, on stdin and stdout, until it leaves.
    ///
    /// From now on nothing but messages reaches stdout; what is printed there goes to stderr.
    ///
    /// # Errors
    /// When the server cannot be built, stdio is taken already, or the connection breaks.
    #[cfg(feature = "stdio")]
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        let server = self.build()?;
        match server.serve(switchboard_transport::stdio::take_stdio()?).await {
            switchboard_session::link::LinkError::Closed => Ok(()),
            broken => Err(broken.into()),
        }
    }

    /// The service over HTTP, to be mounted where such services are, in axum with
    /// `Router::new().route_service("/mcp", service)`.
    ///
    /// # Errors
    /// When the server cannot be built.
    #[cfg(feature = "http")]
    pub fn into_http_service(
        self,
        options: switchboard_transport::http::server::HttpServerOptions,
    ) -> Result<switchboard_transport::http::server::HttpService, BuildError> {
        Ok(switchboard_transport::http::server::HttpService::new(&self.build()?, options))
    }

    /// Serves over HTTP at `/mcp` of this address, or as [`ServeHttp`] says, until the future is dropped, and the plain endpoint beside it when the
    /// design has one and this crate was built with it.
    ///
    /// # Errors
    /// When the server cannot be built, the address cannot be taken, or it can be reached from other machines and
    /// neither authentication nor the hosts that requests may name are set.
    #[cfg(feature = "http")]
    pub async fn serve_http(self, how: impl Into<ServeHttp>) -> Result<(), ServeError> {
        let ServeHttp { address, options, limits } = how.into();
        if !address.ip().is_loopback() && options.authenticate.is_none() && options.allowed_hosts.is_empty() {
            return Err(ServeError::Unprotected(address));
        }
        let listener = HttpListener::bind(address).await?.with_limits(limits);
        #[cfg(feature = "rpc")]
        if self.design().rpc.is_some() {
            listener.serve(crate::rpc::Mounted::of(&self, options)?).await;
            return Ok(());
        }
        listener.serve(HttpService::new(&self.build()?, options)).await;
        Ok(())
    }
}

/// Where and how a service is served over HTTP. An address alone is served with the defaults.
///
/// ```
/// use switchboard::service::ServeHttp;
/// use switchboard::transport::http::server::{AcceptPolicy, HttpServerOptions};
///
/// let how = ServeHttp::new("127.0.0.1:8080".parse().unwrap())
///     .options(HttpServerOptions::default().with_path("/assistant").with_accept(AcceptPolicy::Named));
/// # let _ = how;
/// ```
#[cfg(feature = "http")]
#[derive(Debug, Clone)]
pub struct ServeHttp {
    address: SocketAddr,
    options: HttpServerOptions,
    limits: ListenerLimits,
}

#[cfg(feature = "http")]
impl ServeHttp {
    /// Serves at this address, with the defaults.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, options: HttpServerOptions::default(), limits: ListenerLimits::default() }
    }

    /// Sets the path, the accept policy, who may call, and the limits of requests, sessions and streams.
    #[must_use]
    pub fn options(mut self, options: HttpServerOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the limits of connections.
    #[must_use]
    pub fn limits(mut self, limits: ListenerLimits) -> Self {
        self.limits = limits;
        self
    }
}

#[cfg(feature = "http")]
impl From<SocketAddr> for ServeHttp {
    fn from(address: SocketAddr) -> Self {
        Self::new(address)
    }
}
