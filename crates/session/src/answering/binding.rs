//! What a binding needs to serve requests its own way: HTTP has no pipe to hand over.
//!
//! A pipe is served whole by [`Server::serve`]. A binding that holds exchanges itself asks [`says`] what a request says
//! of itself, hands it to [`Server::answer`], and registers each session with [`Server::tell`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use switchboard_protocol::jsonrpc::{Notification, Request};
use switchboard_protocol::{Raw, ResourceUpdated, RpcError};

use crate::answering::answer::{Answered, answer};
use crate::answering::publish::{Hears, News, Registered};
use crate::answering::{Back, Server};
use crate::era::serving::tells;
use crate::era::{Classified, classify, is_modern_name};

pub use crate::era::serving::ServerSession;

/// What a request says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Says {
    /// It stands alone, in this revision. `None` when what it says is no string.
    Alone(Option<String>),
    /// Nothing: it belongs to a session.
    InSession,
}

/// What a request says of itself.
pub fn says(params: Option<&Raw>) -> Says {
    match classify(params) {
        Classified::Modern(said) => Says::Alone(said.version.and_then(|version| version.decode().ok())),
        Classified::Legacy(_) => Says::InSession,
    }
}

/// Whether requests of this version stand alone. Versions are dates: those beyond the last with sessions do, known or
/// not.
pub fn stands_alone(version: &str) -> bool {
    is_modern_name(version)
}

/// Checks what a request that stands alone must say of itself, and gives the version it says.
///
/// # Errors
/// Names what is missing.
pub fn check_alone(params: Option<&Raw>) -> Result<String, RpcError> {
    match classify(params) {
        Classified::Modern(said) => said.envelope().map(|envelope| envelope.version),
        Classified::Legacy(_) => Err(RpcError::invalid_params("params._meta must name the protocol version")),
    }
}

/// Keeps a session told of changes until it is dropped.
pub struct Told {
    _registered: Registered,
}

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Told")
    }
}

impl Server {
    /// Answers one request. `session` is what the connection remembers; a request that stands alone does not touch it.
    pub fn answer(
        self: &Arc<Self>,
        session: &Arc<ServerSession>,
        request: Request,
        back: Arc<dyn Back>,
    ) -> Answered {
        answer(self, session, request, back)
    }

    /// Hears a notification of a client that concerns no request.
    pub fn hear(&self, note: &Notification) {
        match &*note.method {
            "notifications/roots/list_changed" => {
                // A panic of the author's code ends nothing but itself.
                let heard = catch_unwind(AssertUnwindSafe(|| self.handler().roots_changed()));
                if heard.is_err() {
                    tracing::error!("the handler panicked on changed roots");
                }
            }
            other => tracing::trace!(method = other, "a notification needs nothing done"),
        }
    }

    /// Whether a resource may be subscribed to.
    pub(crate) fn may_subscribe(&self, uri: &str) -> Result<(), RpcError> {
        catch_unwind(AssertUnwindSafe(|| self.handler().may_subscribe(uri)))
            .unwrap_or_else(|_| Err(RpcError::internal("Internal error: the request could not be handled")))
    }

    /// The input schema of a tool whose arguments are mirrored.
    pub fn input_schema(&self, tool: &str) -> Option<Raw> {
        catch_unwind(AssertUnwindSafe(|| self.handler().input_schema(tool))).unwrap_or_else(|_| {
            tracing::error!("the handler panicked on the schema of a tool");
            None
        })
    }

    /// Whether sessions are served at all.
    pub fn keeps_sessions(&self) -> bool {
        !self.offer().legacy().is_empty()
    }

    /// Whether a version is served.
    pub fn speaks(&self, version: &str) -> bool {
        self.offer().all().iter().any(|revision| revision.as_str() == version)
    }

    /// Tells a session of changes from now on, through `back`.
    pub fn tell(self: &Arc<Self>, session: &Arc<ServerSession>, back: Arc<dyn Back>) -> Told {
        let listener = SessionListener { server: Arc::clone(self), session: Arc::clone(session), back };
        Told { _registered: self.publisher.register(Arc::new(listener)) }
    }
}

struct SessionListener {
    server: Arc<Server>,
    session: Arc<ServerSession>,
    back: Arc<dyn Back>,
}

impl Hears for SessionListener {
    fn hear(&self, news: &News) {
        if !tells(&self.session, &self.server, news) {
            return;
        }
        let params = match news {
            News::Resource(uri) => Raw::encode(&ResourceUpdated::new(uri.as_str())).ok(),
            _ => None,
        };
        self.back.note(news.method(), params.as_ref());
    }
}
