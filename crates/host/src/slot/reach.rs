//! From a plan to a way to its server.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use parking_lot::{Mutex, RwLock};
use switchboard_http::{Address, AuthorizeError, Authorizer, Bearer, BoxFuture, Refusal, Retry, Secret};
use switchboard_session::answering::Server;
use switchboard_session::link::{Dial, InProcess, Link, LinkError, Rung};
use switchboard_transport::http::client::{Http, Way};
use switchboard_transport::stdio::{ChildHandle, Stdio};

use crate::config::{Plan, Reach};
use crate::slot::Failure;

/// Gives tokens for connectors, by their id.
pub trait TokenSource: Send + Sync + fmt::Debug {
    /// The token of now. Asked for every request, so it should keep what it has.
    ///
    /// # Errors
    /// [`AuthorizeError::NeedsLogin`] when the user has to log in.
    fn token<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Secret, AuthorizeError>>;
}

/// Gives the credentials of servers that are reached over HTTP.
pub trait Logins: Send + Sync + fmt::Debug {
    /// Whoever authorizes requests to this server; none when it needs no login.
    fn authorizer(&self, server: &str, plan: &Plan) -> Option<Arc<dyn Authorizer>>;
}

/// All that is needed to reach any server.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// Servers in this program. Held for a lookup, never across an await.
    pub(crate) in_process: RwLock<BTreeMap<String, Arc<Server>>>,
    pub(crate) tokens: Option<Arc<dyn TokenSource>>,
    pub(crate) logins: Option<Arc<dyn Logins>>,
}

impl Ways {
    /// The way to a server. One that is started here can be looked at through `sight`.
    pub(crate) async fn dial(
        &self,
        server: &str,
        plan: &Plan,
        sight: &Arc<Sight>,
    ) -> Result<Arc<dyn Dial>, Failure> {
        match &plan.reach {
            Reach::Stdio { command, args, env, inherit_env, cwd } => {
                let mut child = Stdio::new(command).args(args);
                for (name, value) in env {
                    child = child.env(name, value.expose());
                }
                for name in inherit_env {
                    child = child.inherit_env(name);
                }
                if let Some(cwd) = cwd {
                    child = child.cwd(cwd);
                }
                Ok(Arc::new(Started { command: child, sight: Arc::clone(sight) }))
            }
            Reach::Http { url, headers, sse, allow_plain } => {
                let http = if *allow_plain { Http::new_allowing_plain(url) } else { Http::new(url) };
                let mut http = http.map_err(Failure::Address)?;
                for (name, value) in headers {
                    let (name, value) = header(name, value)?;
                    http = http.with_header(name, value);
                }
                if let Some(logins) = &self.logins
                    && let Some(authorizer) = logins.authorizer(server, plan)
                {
                    http = http.with_authorizer(authorizer);
                }
                Ok(Arc::new(http.with_way(if *sse { Way::Sse } else { Way::Auto })))
            }
            Reach::InProcess { name } => {
                let registered = self.in_process.read();
                let found = registered.get(name).ok_or_else(|| Failure::NotRegistered {
                    name: name.clone(),
                    known: registered.keys().cloned().collect(),
                })?;
                Ok(Arc::new(InProcess::new(found)))
            }
            Reach::Proxy { url, id } => {
                let tokens = self.tokens.as_ref().ok_or_else(|| Failure::NoTokenSource { id: id.clone() })?;
                // Asked once before anything is connected: without a token there is nothing to connect for.
                tokens.token(id).await.map_err(Failure::Token)?;
                let authorizer = Arc::new(Connector { id: id.clone(), tokens: Arc::clone(tokens) });
                let http = Http::new(url).map_err(Failure::Address)?;
                Ok(Arc::new(http.with_authorizer(authorizer)))
            }
        }
    }
}

/// A look at the process of a server, from beside its connection.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    // Held for a clone or a swap, never across an await.
    child: Mutex<Option<ChildHandle>>,
}

impl Sight {
    /// The process, if there is one.
    pub(crate) fn child(&self) -> Option<ChildHandle> {
        self.child.lock().clone()
    }

    /// There is none any more.
    pub(crate) fn close(&self) {
        *self.child.lock() = None;
    }
}

/// A program that is started for each first rung; one that lives is asked again in the older way.
struct Started {
    command: Stdio,
    sight: Arc<Sight>,
}

impl Started {
    fn link(&self, rung: Rung, previous: Option<Arc<dyn Link>>) -> Result<Arc<dyn Link>, LinkError> {
        match (rung, previous) {
            (Rung::Legacy, Some(link)) if link.ended().is_none() => Ok(link),
            _ => {
                let (link, child) = self.command.start()?;
                *self.sight.child.lock() = Some(child);
                Ok(link)
            }
        }
    }
}

impl Dial for Started {
    fn dial(
        &self,
        rung: Rung,
        previous: Option<Arc<dyn Link>>,
    ) -> switchboard_session::link::BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move { self.link(rung, previous) })
    }
}

fn header(name: &str, value: &Secret) -> Result<(HeaderName, HeaderValue), Failure> {
    let refused = || Failure::Header { name: name.to_owned() };
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
    let mut value = HeaderValue::from_str(value.expose()).map_err(|_| refused())?;
    value.set_sensitive(true);
    Ok((parsed, value))
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
    fn challenged<'a>(&'a self, refusal: Refusal<'a>) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(async move {
            let now = self.bearer(refusal.address).await?;
            Ok(if now.as_ref() == refusal.sent { Retry::GiveUp } else { Retry::Again })
        })
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector").field("id", &self.id).finish_non_exhaustive()
    }
}
