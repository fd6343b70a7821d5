//! The state of a gateway at one scrape.

use switchboard_protocol::Revision;

use crate::audit::AuditCounts;

/// The state of a gateway at one scrape.
#[derive(Debug, Default)]
pub(crate) struct GatewaySnapshot {
    pub(crate) upstreams: Vec<UpstreamSnapshot>,
    pub(crate) parked: usize,
    pub(crate) subscriptions: usize,
    /// Sessions of legacy clients over HTTP.
    pub(crate) sessions: usize,
    /// `None` without an audit log.
    pub(crate) audit: Option<AuditCounts>,
}

/// The state of one server.
#[derive(Debug)]
pub(crate) struct UpstreamSnapshot {
    pub(crate) name: String,
    /// The kind of its status.
    pub(crate) state: &'static str,
    /// While it is connected.
    pub(crate) revision: Option<Revision>,
    pub(crate) running_calls: u64,
    pub(crate) queued_calls: u64,
    pub(crate) reconnects: u64,
    pub(crate) processes: u64,
    /// Tools that are withheld because their definitions have changed.
    pub(crate) quarantined: u64,
}
