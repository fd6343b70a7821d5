//! Creates the [`Dial`] of a server from its spec.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use switchboard_http::{
    AuthorizeError, Authorizer, Bearer, BoxFuture, Credentials, RequestTarget, Retry, Secret,
    UnauthorizedResponse,
};
use switchboard_session::link::{Dial, TrafficTap};
use switchboard_session::server::{InProcess, Server};
use switchboard_transport::http::client::Http;
use switchboard_transport::stdio::ChildSlot;

use crate::connection::SentCredentials;
use crate::server_spec::ServerSpec;
use crate::status::ConnectionError;
use crate::traffic::{Traffic, observe_dial, observe_invalid_lines};
use crate::transport::Transport;

/// Provides bearer tokens of claude.ai connectors. A host without one uses its [`CredentialProvider`].
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// Returns the current token of a connector. Called for every request, so it should cache.
    ///
    /// # Errors
    /// [`AuthorizeError::NeedsLogin`] when the user has to log in.
    fn token<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Secret, AuthorizeError>>;
}

/// Provides credentials of HTTP servers, and of claude.ai connectors if there is no [`TokenSource`].
pub trait CredentialProvider: Send + Sync + fmt::Debug {
    /// Returns the authorizer of requests to this server; `None` if it needs no login.
    fn authorizer(&self, server: &str, spec: &ServerSpec) -> Option<Arc<dyn Authorizer>>;

    /// Returns the version of the stored credentials of this server, which differs after each login, also of another
    /// process; `None` if there are none. A server that needs a login is reconnected when the version changes, so it is
    /// asked for once a second meanwhile. `None` by default.
    fn version<'a>(&'a self, server: &'a str, spec: &'a ServerSpec) -> BoxFuture<'a, Option<u64>> {
        _ = (server, spec);
        Box::pin(std::future::ready(None))
    }
}

/// Creates dials: has the registered servers, the token source and the credentials.
#[derive(Debug, Default)]
pub(crate) struct Connectors {
    /// Registered servers. Locked for a lookup, never across an await.
    pub(crate) in_process: RwLock<BTreeMap<String, Arc<Server>>>,
    pub(crate) tokens: Option<Arc<dyn TokenSource>>,
    pub(crate) credentials: Option<Arc<dyn CredentialProvider>>,
    /// The credentials that servers were given.
    pub(crate) sent: Arc<SentCredentials>,
    /// Observes the messages of all sessions.
    pub(crate) traffic: Traffic,
}

/// What the dial of one session is made with.
pub(crate) struct DialOptions<'a> {
    /// Receives the process of a stdio server.
    pub(crate) child: &'a ChildSlot,
    /// Takes the place of the credentials of an HTTP server.
    pub(crate) authorizer: Option<&'a Arc<dyn Authorizer>>,
    /// Shows the messages of the session.
    pub(crate) tap: Option<&'a TrafficTap>,
}

/// How often the credentials of a server that needs a login are looked at.
const LOGIN_POLL_INTERVAL: Duration = Duration::from_secs(1);

impl Connectors {
    /// Returns the authorizer of a server: the credentials of the provider, and the headers of its helper.
    fn authorizer(&self, server: &str, spec: &ServerSpec, url: &str) -> Option<Arc<dyn Authorizer>> {
        let credentials = self.credentials.as_ref().and_then(|provider| provider.authorizer(server, spec));
        let Some(helper) = &spec.header_helper else { return credentials };
        // The names that helpers for Claude Code read.
        let helper = helper
            .clone()
            .with_default_env("CLAUDE_CODE_MCP_SERVER_NAME", server)
            .with_default_env("CLAUDE_CODE_MCP_SERVER_URL", url);
        Some(Arc::new(helper.authorizer(credentials)))
    }

    /// Returns the version of the stored credentials of a server.
    pub(crate) async fn credential_version(&self, server: &str, spec: &ServerSpec) -> Option<u64> {
        match (&self.credentials, &spec.transport) {
            (Some(credentials), Transport::Http(_) | Transport::Proxy { .. }) => {
                credentials.version(server, spec).await
            }
            _ => None,
        }
    }

    /// Waits until there are other credentials than those of this version.
    pub(crate) async fn credentials_changed(&self, server: &str, spec: &ServerSpec, refused: Option<u64>) {
        loop {
            tokio::time::sleep(LOGIN_POLL_INTERVAL).await;
            let version = self.credential_version(server, spec).await;
            if version.is_some() && version != refused {
                return;
            }
        }
    }

    /// Returns the dial of a session with a server.
    pub(crate) async fn dial(
        &self,
        server: &str,
        spec: &ServerSpec,
        options: DialOptions<'_>,
    ) -> Result<Arc<dyn Dial>, ConnectionError> {
        Ok(observe_dial(self.transport_dial(server, spec, &options).await?, options.tap))
    }

    async fn transport_dial(
        &self,
        server: &str,
        spec: &ServerSpec,
        &DialOptions { child, authorizer: own, tap }: &DialOptions<'_>,
    ) -> Result<Arc<dyn Dial>, ConnectionError> {
        let authorized = |http: Http, authorizer| http.authorizer(self.sent.observe(authorizer));
        match &spec.transport {
            Transport::Stdio(stdio) => {
                let stdio = stdio.as_ref().clone().child_slot(child.clone());
                Ok(Arc::new(observe_invalid_lines(stdio, tap)))
            }
            Transport::Http(http) => {
                let mut http = http.as_ref().clone();
                http.check().map_err(ConnectionError::Endpoint)?;
                if let Some(own) = own {
                    http = authorized(http, Arc::clone(own));
                } else if !http.has_authorizer()
                    && let Some(authorizer) = self.authorizer(server, spec, http.url())
                {
                    http = authorized(http, authorizer);
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
                let http = Http::new(url);
                http.check().map_err(ConnectionError::Endpoint)?;
                if let Some(own) = own {
                    return Ok(Arc::new(authorized(http, Arc::clone(own))));
                }
                let Some(tokens) = &self.tokens else {
                    let authorizer = self.authorizer(server, spec, url);
                    let missing = || ConnectionError::NoTokenSource { id: id.clone() };
                    return Ok(Arc::new(authorized(http, authorizer.ok_or_else(missing)?)));
                };
                // Without a token connecting is pointless.
                tokens.token(id).await.map_err(ConnectionError::Token)?;
                let authorizer = Arc::new(ConnectorAuthorizer { id: id.clone(), tokens: Arc::clone(tokens) });
                Ok(Arc::new(authorized(http, authorizer)))
            }
            Transport::Custom(dial) => Ok(Arc::clone(dial)),
            Transport::Invalid(error) => Err(ConnectionError::Config(error.clone())),
        }
    }
}

/// Authorizes the requests of one connector.
struct ConnectorAuthorizer {
    id: String,
    tokens: Arc<dyn TokenSource>,
}

impl ConnectorAuthorizer {
    async fn bearer(&self, target: RequestTarget<'_>) -> Result<Credentials, AuthorizeError> {
        Bearer::new(&self.tokens.token(&self.id).await?)?.authorize(target).await
    }
}

impl Authorizer for ConnectorAuthorizer {
    fn authorize<'a>(
        &'a self,
        target: RequestTarget<'a>,
    ) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        Box::pin(self.bearer(target))
    }

    /// Retries only if the token has changed.
    fn handle_unauthorized<'a>(
        &'a self,
        response: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(async move {
            let now = self.bearer(response.target).await?;
            Ok(if now == *response.sent { Retry::GiveUp } else { Retry::Again })
        })
    }
}

impl fmt::Debug for ConnectorAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectorAuthorizer").field("id", &self.id).finish_non_exhaustive()
    }
}
