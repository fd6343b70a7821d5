//! State that all connection tasks of a host share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::RwLock;
use switchboard_protocol::Root;
use switchboard_session::Client;
use switchboard_session::client::Limits;
use tokio::sync::watch;

use crate::connection::Connectors;
use crate::event::EventSender;
use crate::registry::Registry;
use crate::slot::SessionBudget;

/// The state that all connection tasks of a host share.
#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) connectors: Connectors,
    pub(crate) registry: Registry,
    pub(crate) events: EventSender,
    /// Whether prompts, resources and templates are kept beside the tools.
    pub(crate) keeps_all_lists: bool,
    /// Whether failed servers are tried again.
    pub(crate) retries_failed: bool,
    /// The client of all sessions.
    pub(crate) client: Client,
    pub(crate) limits: Limits,
    /// The roots that servers receive from `roots/list`. Held for a clone, never across an await.
    pub(crate) roots: RwLock<Option<Vec<Root>>>,
    /// The keyed sessions of all servers.
    pub(crate) session_budget: Arc<SessionBudget>,
    /// The number of system resumes.
    pub(crate) resumes: watch::Sender<u64>,
    /// Whether closing does not wait for the supervisors, because the process is about to exit.
    pub(crate) detaches: AtomicBool,
}
