//! A service over every way to reach it: in this process, on stdio, over HTTP.

use switchboard_session::client::Client;
use switchboard_session::link::InProcess;
use switchboard_session::{CallError, ClientSession};

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
        match server.serve(switchboard_transport::stdio::own_stdio()?).await {
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
        options: switchboard_transport::http::server::HttpOptions,
    ) -> Result<switchboard_transport::http::server::HttpService, BuildError> {
        Ok(switchboard_transport::http::server::HttpService::new(&self.build()?, options))
    }

    /// Serves over HTTP at `/mcp` of this address until the future is dropped, and the plain endpoint beside it when the
    /// design has one and this crate was built with it.
    ///
    /// # Errors
    /// When the server cannot be built, or the address cannot be taken.
    #[cfg(feature = "http")]
    pub async fn serve_http(self, address: std::net::SocketAddr) -> Result<(), ServeError> {
        use switchboard_transport::http::server::{HttpListener, HttpOptions, HttpService};
        let listener = HttpListener::bind(address).await?;
        #[cfg(feature = "rpc")]
        if self.design().rpc.is_some() {
            let plain =
                crate::rpc::RpcService::new(&self, HttpOptions::default()).map_err(BuildError::Policy)?;
            let service = HttpService::new(&self.build()?, HttpOptions::default());
            listener.serve(crate::rpc::Mounted::new(service, plain)).await;
            return Ok(());
        }
        listener.serve(HttpService::new(&self.build()?, HttpOptions::default())).await;
        Ok(())
    }
}
