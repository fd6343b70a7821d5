//! What a binding needs to serve requests its own way: HTTP has no pipe to hand over.
//!
//! A pipe is served whole by [`Server::serve`]. A binding that holds exchanges itself asks [`says`] what a request says
//! of itself, hands it to [`Server::answer`], and registers each session with [`Server::tell`].

use std::sync::Arc;

use switchboard_protocol::jsonrpc::Request;
use switchboard_protocol::{Raw, ResourceUpdated};

use crate::answering::answer::{Answered, answer};
use crate::answering::publish::{Hears, News, Registered};
use crate::answering::{Back, Server};
use crate::era::serving::tells;
use crate::era::{Classified, classify};

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
