//! A request for one server, and what it is for.

use std::sync::Arc;
use std::time::Duration;

use switchboard_host::{SessionKey, SessionLease, SessionScope};
use switchboard_protocol::{FromRaw, Meta, Raw, TaskIdParams, TaskParams};

use crate::active_calls::CallSession;
use crate::capabilities::TaskOffer;

/// A request for one server.
pub(crate) struct UpstreamRequest {
    pub(crate) server: Arc<str>,
    pub(crate) target: UpstreamTarget,
    /// The session with the server; `None` for its main one.
    pub(crate) scope: Option<SessionScope>,
    /// The open session with the server that the request is for, and for which none is opened.
    pub(crate) lease: Option<SessionLease>,
    /// What passes of the client's `_meta`.
    pub(crate) meta: Option<Meta>,
    /// Asks the server to run the tool as a task (2025-11-25); the task is returned, not waited for.
    pub(crate) task: Option<TaskParams>,
    /// Whether the client takes a task of the extension.
    pub(crate) offer: TaskOffer,
    /// The exposed id of the task that the request waits for.
    pub(crate) related_task: Option<String>,
    /// The total timeout, where it is not that of the session.
    pub(crate) timeout: Option<Duration>,
}

/// What a request is for.
pub(crate) enum UpstreamTarget {
    /// A tool, by its name on the server.
    Tool { name: String, arguments: Raw },
    /// Another method.
    Method { method: &'static str, params: Raw },
}

impl UpstreamRequest {
    pub(crate) fn new(server: &Arc<str>, target: UpstreamTarget, meta: Option<Meta>) -> Self {
        Self {
            server: Arc::clone(server),
            target,
            scope: None,
            lease: None,
            meta,
            task: None,
            offer: TaskOffer::None,
            related_task: None,
            timeout: None,
        }
    }

    /// Returns the session that the request is sent in.
    pub(crate) fn call_session(&self) -> CallSession {
        let scope = self.scope.as_ref().map(|scope| scope.key);
        let lease = || self.lease.as_ref().and_then(SessionLease::key);
        (Arc::clone(&self.server), scope.or_else(lease))
    }

    /// Returns the id on the server of the task whose result is requested.
    pub(crate) fn awaited_task(&self) -> Option<String> {
        match &self.target {
            UpstreamTarget::Method { method: "tasks/result", params } => {
                TaskIdParams::from_raw(params).ok().map(|params| params.task_id)
            }
            _ => None,
        }
    }
}

/// What a request is for: its server and target. The name that a client knows may stand for another target by the time it
/// retries, and the rules of that one would be applied.
pub(crate) struct RequestPurpose {
    pub(crate) server: Arc<str>,
    target: PurposeTarget,
}

enum PurposeTarget {
    Tool(String),
    Method(&'static str, Raw),
}

impl RequestPurpose {
    pub(crate) fn of(request: &UpstreamRequest) -> Self {
        let target = match &request.target {
            UpstreamTarget::Tool { name, .. } => PurposeTarget::Tool(name.clone()),
            UpstreamTarget::Method { method, params } => PurposeTarget::Method(method, params.clone()),
        };
        Self { server: Arc::clone(&request.server), target }
    }

    /// Returns the digest by which a retry is compared. Most calls never need it.
    pub(crate) fn digest(&self) -> SessionKey {
        match &self.target {
            PurposeTarget::Tool(name) => SessionKey::new([&*self.server, "tools/call", name]),
            PurposeTarget::Method(method, params) => {
                let canonical = params.canonical().unwrap_or_else(|_| params.as_str().to_owned());
                SessionKey::new([&*self.server, method, &canonical])
            }
        }
    }
}
