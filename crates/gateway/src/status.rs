//! The status of a gateway.

use std::sync::Arc;
use std::time::SystemTime;

use switchboard_host::{ServerStatus, WithheldReason};

use crate::names::WithheldItem;
use crate::view::ViewWarning;

/// A tool that is withheld until its changed definition is accepted
/// ([`Host::accept_definition`](switchboard_host::Host::accept_definition)). It is not listed, and answers like an unknown one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuarantinedTool {
    /// The server.
    pub server: String,
    /// The server's own name of the tool.
    pub tool: String,
}

impl std::fmt::Display for QuarantinedTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { server, tool } = self;
        write!(f, "the tool {tool:?} of {server:?} is withheld: {}", WithheldReason::Drifted)
    }
}

/// A call that waits for the answer to a question, while no request of its client is open.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParkedCallStatus {
    /// The principal that made it; `None` for an anonymous caller.
    pub principal: Option<String>,
    /// The server.
    pub server: Arc<str>,
    /// The server's own name of the tool, or the method.
    pub name: String,
    /// Since when it is parked.
    pub parked_at: SystemTime,
    /// When it is cancelled.
    pub expires_at: SystemTime,
}

/// The status of a gateway: a server that has failed is an entry here, never the error of a list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GatewayStatus {
    /// The servers, in configured order.
    pub servers: Vec<ServerStatus>,
    /// Tools that are withheld, because their definitions differ from the pinned ones.
    pub quarantined: Vec<QuarantinedTool>,
    /// Names that are withheld, because several items claim them.
    pub withheld: Vec<WithheldItem>,
    /// Calls that wait for the answer to a question.
    pub parked_calls: usize,
    /// Resources that clients are subscribed to.
    pub subscriptions: usize,
    /// Tools that the view of everything lists, before the policy.
    pub tools: usize,
    /// Sessions of legacy clients over HTTP, of all views.
    pub sessions: usize,
    /// The views, by name.
    pub views: Vec<ViewStatus>,
}

/// The status of a view.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ViewStatus {
    /// The name.
    pub name: String,
    /// Names that are withheld.
    pub withheld: Vec<WithheldItem>,
    /// Parts of its definition that have no effect now.
    pub warnings: Vec<ViewWarning>,
    /// Resources that its clients are subscribed to.
    pub subscriptions: usize,
    /// Tools that it lists, before the policy.
    pub tools: usize,
    /// Its sessions of legacy clients over HTTP.
    pub sessions: usize,
}
