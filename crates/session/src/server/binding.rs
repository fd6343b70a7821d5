//! What a binding needs to serve requests its own way: HTTP has no pipe to hand over.
//!
//! A pipe is served whole by [`Server::serve`]. A binding that holds exchanges itself looks at each request with
//! [`Server::look`], hands it to [`Server::answer`], and registers each session with [`Server::subscribe_session`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use switchboard_protocol::jsonrpc::{Notification, Request};
use switchboard_protocol::{Raw, ResourceUpdated, RpcError, surface};

use crate::era::serving::wants_change;
use crate::era::{ClassifiedRequest, MessageEra, ServerChange, classify, is_modern_name};
use crate::request::ReplyChannel;
use crate::server::Server;
use crate::server::answer::{Answered, answer};
use crate::server::publish::{ChangeListener, ListenerGuard};

pub use crate::era::serving::ServerSession;

/// The class of a request by what it says of itself: in a session, or standing alone in a revision.
#[derive(Debug)]
pub struct MessageClass(ClassifiedRequest);

impl MessageClass {
    /// Nothing when it belongs to a session. Else it stands alone, in the version it says; the error names what it
    /// fails to say.
    pub fn alone(&self) -> Option<Result<&str, &RpcError>> {
        match &self.0.era {
            MessageEra::Legacy => None,
            MessageEra::Modern(client_meta) => {
                Some(client_meta.as_ref().map(|client_meta| client_meta.version.as_str()))
            }
        }
    }
}

/// Whether requests of this version stand alone. Versions are dates: those beyond the last with sessions do, known or
/// not.
pub fn stands_alone(version: &str) -> bool {
    is_modern_name(version)
}

/// The subscription of a session to the changes of a server: it is told of them until this is dropped.
pub struct ChangeSubscription {
    _guard: ListenerGuard,
}

impl std::fmt::Debug for ChangeSubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChangeSubscription")
    }
}

impl Server {
    /// What a request says of itself.
    pub fn classify(&self, request: &Request) -> MessageClass {
        MessageClass(classify(request, &self.client_metas))
    }

    /// Answers one request that was looked at. `session` is what the connection remembers; a request that stands alone
    /// does not touch it.
    pub fn answer(
        self: &Arc<Self>,
        session: &Arc<ServerSession>,
        request: Request,
        class: MessageClass,
        channel: Arc<dyn ReplyChannel>,
    ) -> Answered {
        answer(self, session, request, class.0, channel)
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
            other if surface::find(other).next().is_none() => {
                let heard = catch_unwind(AssertUnwindSafe(|| {
                    self.handler().heard(other, note.params.as_ref());
                }));
                if heard.is_err() {
                    tracing::error!(method = other, "the handler panicked on a notification");
                }
            }
            other => tracing::trace!(method = other, "a notification needs nothing done"),
        }
    }

    /// Whether a resource may be subscribed to.
    pub(crate) fn may_subscribe(&self, uri: &str, channel: &dyn ReplyChannel) -> Result<(), RpcError> {
        catch_unwind(AssertUnwindSafe(|| self.handler().may_subscribe_as(uri, channel.caller())))
            .unwrap_or_else(|_| Err(RpcError::internal("Internal error: the request could not be handled")))
    }

    /// Whether an owner may hear how a task is doing.
    pub(crate) fn may_follow(&self, task: &str, owner: Option<&str>) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.handler().may_follow(task, owner))).unwrap_or(false)
    }

    /// The input schema of a tool whose arguments are mirrored.
    pub fn input_schema(&self, tool: &str) -> Option<Raw> {
        catch_unwind(AssertUnwindSafe(|| self.handler().input_schema(tool))).unwrap_or_else(|_| {
            tracing::error!("the handler panicked on the schema of a tool");
            None
        })
    }

    /// Whether a session that is open can be opened no second time.
    pub fn opens_once(&self) -> bool {
        self.profile().opening.once
    }

    /// Whether a request of this method is answered only at its end, and says what it has to say before: a binding
    /// gives it a stream of its own at once. For methods of extensions.
    pub fn is_long_lived(&self, method: &str) -> bool {
        if method == "tools/call" {
            return false;
        }
        catch_unwind(AssertUnwindSafe(|| self.handler().is_long_lived(method))).unwrap_or(false)
    }

    /// Whether sessions are served at all.
    pub fn keeps_sessions(&self) -> bool {
        !self.profile().revisions.legacy().is_empty()
    }

    /// Whether a version is served.
    pub fn speaks(&self, version: &str) -> bool {
        self.profile().revisions.all().iter().any(|revision| revision.as_str() == version)
    }

    /// Tells a session of changes from now on, through `back`.
    pub fn subscribe_session(
        self: &Arc<Self>,
        session: &Arc<ServerSession>,
        channel: Arc<dyn ReplyChannel>,
    ) -> ChangeSubscription {
        session.attach(self.observer());
        let listener = SessionListener { server: Arc::clone(self), session: Arc::clone(session), channel };
        ChangeSubscription { _guard: self.publisher.register(Arc::new(listener)) }
    }
}

struct SessionListener {
    server: Arc<Server>,
    session: Arc<ServerSession>,
    channel: Arc<dyn ReplyChannel>,
}

impl ChangeListener for SessionListener {
    fn on_change(&self, change: &ServerChange) {
        if !wants_change(&self.session, self.server.profile(), change) {
            return;
        }
        let params = match change {
            ServerChange::Resource(uri) => Raw::encode(&ResourceUpdated::new(uri.as_str())).ok(),
            _ => None,
        };
        self.channel.note(change.method(), params.as_ref());
    }
}
