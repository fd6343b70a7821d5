//! Creates the [`Dial`] of a server from its spec.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use http::HeaderValue;
use parking_lot::RwLock;
use switchboard_http::{
    Address, AuthorizeError, Authorizer, Bearer, BoxFuture, Retry, Secret, UnauthorizedResponse,
};
use switchboard_session::link::{Dial, DialStep, Link, LinkError};
use switchboard_session::server::{InProcess, Server};
use switchboard_transport::http::client::Http;
use switchboard_transport::stdio::Stdio;

use crate::server_spec::ServerSpec;
use crate::slot::ChildSlot;
use crate::status::ConnectionError;
use crate::transport::Transport;

/// Provides bearer tokens of claude.ai connectors.
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// Returns the current token of a connector. Called for every request, so it should cache.
    ///
    /// # Errors
    /// [`AuthorizeError::NeedsLogin`] when the user has to log in.
    fn token<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Secret, AuthorizeError>>;
}

/// Provides credentials of HTTP servers.
pub trait CredentialProvider: Send + Sync + fmt::Debug {
    /// Returns the authorizer of requests to this server; `None` if it needs no login.
    fn authorizer(&self, server: &str, spec: &ServerSpec) -> Option<Arc<dyn Authorizer>>;
}

/// Creates dials: has the registered servers, the token source and the credentials.
#[derive(Debug, Default)]
pub(crate) struct Connectors {
    /// Registered servers. Locked for a lookup, never across an await.
    pub(crate) in_process: RwLock<BTreeMap<String, Arc<Server>>>,
    pub(crate) tokens: Option<Arc<dyn TokenSource>>,
    pub(crate) credentials: Option<Arc<dyn CredentialProvider>>,
}

impl Connectors {
    /// Returns the dial of a server. The process of a stdio server is put into `child`.
    pub(crate) async fn dial(
        &self,
        server: &str,
        spec: &ServerSpec,
        child: &Arc<ChildSlot>,
    ) -> Result<Arc<dyn Dial>, ConnectionError> {
        match &spec.transport {
            Transport::Stdio(stdio) => {
                Ok(Arc::new(StdioDial { command: stdio.as_ref().clone(), child: Arc::clone(child) }))
            }
            Transport::Http(http) => {
                let mut http = http.as_ref().clone();
                http.check().map_err(ConnectionError::Endpoint)?;
                if let Some(credentials) = self.credentials.as_ref().filter(|_| !http.has_authorizer())
                    && let Some(authorizer) = credentials.authorizer(server, spec)
                {
                    http = http.authorizer(authorizer);
                }
                Ok(Arc::new(http))
            }
            Transport::InProcess(server) => Ok(Arc::new(server.clone())),
            Transport::Registered { name } => {
                let registered = self.in_process.read();
                let found = registered.get(name).ok_or_else(|| ConnectionError::NotRegistered {
                    name: name.clone(),
                    known: registered.keys().cloned().collect(),
                })?;
                Ok(Arc::new(InProcess::new(found)))
            }
            Transport::Proxy { url, id } => {
                let tokens =
                    self.tokens.as_ref().ok_or_else(|| ConnectionError::NoTokenSource { id: id.clone() })?;
                let http = Http::new(url);
                http.check().map_err(ConnectionError::Endpoint)?;
                // Without a token connecting is pointless.
                tokens.token(id).await.map_err(ConnectionError::Token)?;
                let authorizer = Arc::new(ConnectorAuthorizer { id: id.clone(), tokens: Arc::clone(tokens) });
                Ok(Arc::new(http.authorizer(authorizer)))
            }
            Transport::Custom(dial) => Ok(Arc::clone(dial)),
            Transport::Invalid(error) => Err(ConnectionError::Config(error.clone())),
        }
    }
}

/// Starts a child process for the first step; the legacy step reuses it if it is still running.
struct StdioDial {
    command: Stdio,
    child: Arc<ChildSlot>,
}

impl StdioDial {
    fn link(&self, step: DialStep, previous: Option<Arc<dyn Link>>) -> Result<Arc<dyn Link>, LinkError> {
        match (step, previous) {
            (DialStep::Legacy, Some(link)) if link.ended().is_none() => Ok(link),
            _ => {
                let (link, child) = self.command.start()?;
                self.child.set(child);
                Ok(link)
            }
        }
    }
}

impl Dial for StdioDial {
    fn dial(
        &self,
        step: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> switchboard_session::link::BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move { self.link(step, previous) })
    }
}

/// Authorizes the requests of one connector.
struct ConnectorAuthorizer {
    id: String,
    tokens: Arc<dyn TokenSource>,
}

impl ConnectorAuthorizer {
    async fn bearer(&self, address: &Address) -> Result<Option<HeaderValue>, AuthorizeError> {
        Bearer::new(&self.tokens.token(&self.id).await?)?.authorize(address).await
    }
}

impl Authorizer for ConnectorAuthorizer {
    fn authorize<'a>(
        &'a self,
        address: &'a Address,
    ) -> BoxFuture<'a, Result<Option<HeaderValue>, AuthorizeError>> {
        Box::pin(self.bearer(address))
    }

    /// Retries only if the token has changed.
    fn handle_unauthorized<'a>(
        &'a self,
        response: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(async move {
            let now = self.bearer(response.address).await?;
            Ok(if now.as_ref() == response.sent { Retry::GiveUp } else { Retry::Again })
        })
    }
}

impl fmt::Debug for ConnectorAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectorAuthorizer").field("id", &self.id).finish_non_exhaustive()
    }
}
