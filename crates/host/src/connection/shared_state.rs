//! State that all connection tasks of a host share.

use std::sync::atomic::AtomicBool;

use parking_lot::RwLock;
use switchboard_protocol::Root;
use switchboard_session::Client;
use switchboard_session::client::Limits;
use tokio::sync::watch;

use crate::connection::Connectors;
use crate::event::Announcer;
use crate::registry::Registry;

/// What all tasks of a host share.
#[derive(Debug)]
pub(crate) struct SharedState {
    pub(crate) connectors: Connectors,
    pub(crate) registry: Registry,
    pub(crate) events: Announcer,
    /// What every session is opened with.
    pub(crate) client: Client,
    pub(crate) limits: Limits,
    /// The roots that servers receive from `roots/list`. Held for a clone, never across an await.
    pub(crate) roots: RwLock<Option<Vec<Root>>>,
    /// How often the machine has woken up.
    pub(crate) woken: watch::Sender<u64>,
    /// Whether supervisors stop their servers without being waited for: the program is about to end.
    pub(crate) detaches: AtomicBool,
}
