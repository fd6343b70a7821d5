//! The server interface for bindings that are not pipes, such as HTTP.
//!
//! A pipe is served by [`Server::serve`]. A binding that holds exchanges itself classifies each request with
//! [`Server::classify`], hands it to [`Server::answer`], and registers each session with [`Server::subscribe_session`].

use std::sync::Arc;

use switchboard_protocol::jsonrpc::{Notification, Request};
use switchboard_protocol::{Implementation, Raw, ResourceUpdated, RpcError, surface};

use crate::era::serving::wants_change;
use crate::era::{ClassifiedRequest, MessageEra, ServerChange, classify, is_modern_name};
use crate::request::{Caller, ReplyChannel, catch_panic};
use crate::server::answer::{AnswerOutcome, answer};
use crate::server::observed_server::{ObservedChannel, answer_observed};
use crate::server::publish::{ChangeListener, ListenerGuard};
use crate::server::{Handler, RequestContext, Server, SubscriptionOutcome};

pub use crate::era::serving::ServerSession;

/// The class of a request: part of a session, or self-contained in a revision.
#[derive(Debug)]
pub struct MessageClass(pub(super) ClassifiedRequest);

impl MessageClass {
    /// Returns the version of a self-contained request, or the error in its `_meta`; `None` when it belongs to a session.
    pub fn self_contained_version(&self) -> Option<Result<&str, &RpcError>> {
        match &self.0.era {
            MessageEra::Legacy => None,
            MessageEra::Modern(client_meta) => {
                Some(client_meta.as_ref().map(|client_meta| client_meta.version.as_str()))
            }
        }
    }

    /// Returns what the client of a self-contained request says about itself; it is not verified.
    pub fn client_info(&self) -> Option<Implementation> {
        match &self.0.era {
            MessageEra::Modern(Ok(client_meta)) => client_meta.client(),
            MessageEra::Modern(Err(_)) | MessageEra::Legacy => None,
        }
    }
}

/// Returns whether requests of this version are self-contained. Versions are dates: all those after the last one with
/// sessions are, known or not.
pub fn is_self_contained(version: &str) -> bool {
    is_modern_name(version)
}

/// The subscription of a session to the changes of a server, until it is dropped.
pub struct ChangeSubscription {
    _guard: ListenerGuard,
}

impl std::fmt::Debug for ChangeSubscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ChangeSubscription")
    }
}

impl Server {
    /// Classifies a request by its `_meta`.
    pub fn classify(&self, request: &Request) -> MessageClass {
        MessageClass(classify(request, &self.client_metas))
    }

    /// Answers one classified request. `session` is the state of the connection; a self-contained request does not touch it.
    pub fn answer(
        self: &Arc<Self>,
        session: &Arc<ServerSession>,
        request: Request,
        class: MessageClass,
        channel: Arc<dyn ReplyChannel>,
    ) -> AnswerOutcome {
        match &self.traffic {
            Some(observer) if observer.is_watching() => {
                answer_observed(self, session, request, class, (channel, observer))
            }
            _ => answer(self, session, request, class.0, channel),
        }
    }

    /// Handles a notification of a client that belongs to no request. `session` is that of the connection, if it has one.
    pub fn handle_notification(&self, session: Option<&ServerSession>, note: &Notification) {
        match &*note.method {
            "notifications/roots/list_changed" => {
                // Outside of a session roots are a part of each request.
                if let Some(session) = session.and_then(ServerSession::key) {
                    self.call_back("roots_changed", |handler| handler.roots_changed(&session));
                }
            }
            other if surface::find(other).next().is_none() => {
                self.call_back("notification_received", |handler| {
                    handler.notification_received(other, note.params.as_ref())
                });
            }
            other => tracing::trace!(method = other, "ignored a notification"),
        }
    }

    /// Asks the handler about a subscription to a resource.
    pub(crate) fn open_subscription(&self, uri: &str, cx: &RequestContext) -> SubscriptionOutcome {
        let failed = || Err(RpcError::internal("Internal error: the request could not be handled"));
        self.call_back("open_subscription", |handler| handler.open_subscription(uri, cx))
            .unwrap_or_else(|| SubscriptionOutcome::Now(failed()))
    }

    /// Returns whether a caller may follow a task.
    pub(crate) fn may_follow(&self, task: &str, channel: &dyn ReplyChannel) -> bool {
        let caller = channel.caller();
        self.call_back("may_follow", |handler| handler.may_follow_as(task, caller)).unwrap_or(false)
    }

    /// Returns the input schema of a tool whose arguments are mirrored in headers.
    pub fn input_schema(&self, tool: &str, caller: Option<&Caller>) -> Option<Raw> {
        self.call_back("input_schema_as", |handler| handler.input_schema_as(tool, caller)).flatten()
    }

    /// Calls a method of the handler other than `handle`. A panic is logged and must not end the connection.
    fn call_back<T>(&self, callback: &str, call: impl FnOnce(&dyn Handler) -> T) -> Option<T> {
        let called = catch_panic(|| call(&**self.handler()));
        if called.is_err() {
            tracing::error!(callback, "the handler panicked");
        }
        called.ok()
    }

    /// Returns whether a second `initialize` on a session is rejected.
    pub fn rejects_repeated_initialize(&self) -> bool {
        self.profile().opening.reject_repeated
    }

    /// Returns whether a request of this method is a long-lived stream of notifications: a binding gives it a stream of its
    /// own at once. For methods of extensions.
    pub fn is_long_lived(&self, method: &str) -> bool {
        method != "tools/call"
            && self.call_back("is_long_lived", |handler| handler.is_long_lived(method)).unwrap_or(false)
    }

    /// Returns whether the server accepts revisions with sessions.
    pub fn supports_sessions(&self) -> bool {
        !self.profile().revisions.legacy().is_empty()
    }

    /// Returns whether the server accepts a version.
    pub fn supports_version(&self, version: &str) -> bool {
        self.profile().revisions.all().iter().any(|revision| revision.as_str() == version)
    }

    /// Announces changes to a session from now on, through `channel`.
    pub fn subscribe_session(
        self: &Arc<Self>,
        session: &Arc<ServerSession>,
        channel: Arc<dyn ReplyChannel>,
    ) -> ChangeSubscription {
        session.attach(self.observer());
        let channel = match &self.traffic {
            Some(observer) => Arc::new(ObservedChannel::of_session(channel, session, observer)),
            None => channel,
        };
        let listener = SessionListener { server: Arc::clone(self), session: Arc::clone(session), channel };
        ChangeSubscription { _guard: self.publisher.register(Arc::new(listener)) }
    }
}

/// Announces changes to a legacy session.
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
            ServerChange::Resource { uri, .. } => Raw::encode(&ResourceUpdated::new(uri.as_str())).ok(),
            ServerChange::Notification { params, .. } => Some(params.clone()),
            _ => None,
        };
        self.channel.note(change.method(), params.as_ref());
    }
}
