//! From the description of a server to its dial.

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
use crate::status::Failure;
use crate::transport::Transport;

/// Gives tokens for connectors, by their id.
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// The token of now. Asked for every request, so it should keep what it has.
    ///
    /// # Errors
    /// [`AuthorizeError::NeedsLogin`] when the user has to log in.
    fn token<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Secret, AuthorizeError>>;
}

/// Gives the credentials of servers that are reached over HTTP.
pub trait CredentialProvider: Send + Sync + fmt::Debug {
    /// Whoever authorizes requests to this server; none when it needs no login.
    fn authorizer(&self, server: &str, spec: &ServerSpec) -> Option<Arc<dyn Authorizer>>;
}

/// Makes the dial of any server: registered servers, tokens and credentials.
#[derive(Debug, Default)]
pub(crate) struct Connectors {
    /// Servers in this program. Held for a lookup, never across an await.
    pub(crate) in_process: RwLock<BTreeMap<String, Arc<Server>>>,
    pub(crate) tokens: Option<Arc<dyn TokenSource>>,
    pub(crate) credentials: Option<Arc<dyn CredentialProvider>>,
}

impl Connectors {
    /// Returns the dial of a server. The process of one that is started here is shown through `child`.
    pub(crate) async fn dial(
        &self,
        server: &str,
        spec: &ServerSpec,
        child: &Arc<ChildSlot>,
    ) -> Result<Arc<dyn Dial>, Failure> {
        match &spec.transport {
            Transport::Stdio(stdio) => {
                Ok(Arc::new(Started { command: stdio.as_ref().clone(), child: Arc::clone(child) }))
            }
            Transport::Http(http) => {
                let mut http = http.as_ref().clone();
                http.check().map_err(Failure::Endpoint)?;
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
                let found = registered.get(name).ok_or_else(|| Failure::NotRegistered {
                    name: name.clone(),
                    known: registered.keys().cloned().collect(),
                })?;
                Ok(Arc::new(InProcess::new(found)))
            }
            Transport::Proxy { url, id } => {
                let tokens = self.tokens.as_ref().ok_or_else(|| Failure::NoTokenSource { id: id.clone() })?;
                let http = Http::new(url);
                http.check().map_err(Failure::Endpoint)?;
                // Asked once before anything is connected: without a token there is nothing to connect for.
                tokens.token(id).await.map_err(Failure::Token)?;
                let authorizer = Arc::new(Connector { id: id.clone(), tokens: Arc::clone(tokens) });
                Ok(Arc::new(http.authorizer(authorizer)))
            }
            Transport::Custom(dial) => Ok(Arc::clone(dial)),
            Transport::Invalid(fault) => Err(Failure::Config(fault.clone())),
        }
    }
}

/// A program that is started for each first rung; one that lives is asked again in the older way.
struct Started {
    command: Stdio,
    child: Arc<ChildSlot>,
}

impl Started {
    fn link(&self, rung: DialStep, previous: Option<Arc<dyn Link>>) -> Result<Arc<dyn Link>, LinkError> {
        match (rung, previous) {
            (DialStep::Legacy, Some(link)) if link.ended().is_none() => Ok(link),
            _ => {
                let (link, child) = self.command.start()?;
                self.child.set(child);
                Ok(link)
            }
        }
    }
}

impl Dial for Started {
    fn dial(
        &self,
        rung: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> switchboard_session::link::BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move { self.link(rung, previous) })
    }
}

/// Authorizes requests to one connector.
struct Connector {
    id: String,
    tokens: Arc<dyn TokenSource>,
}

impl Connector {
    async fn bearer(&self, address: &Address) -> Result<Option<HeaderValue>, AuthorizeError> {
        Bearer::new(&self.tokens.token(&self.id).await?)?.authorize(address).await
    }
}

impl Authorizer for Connector {
    fn authorize<'a>(
        &'a self,
        address: &'a Address,
    ) -> BoxFuture<'a, Result<Option<HeaderValue>, AuthorizeError>> {
        Box::pin(self.bearer(address))
    }

    /// Worth another try only with another token.
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

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("id", &self.id).finish_non_exhaustive()
    }
}
