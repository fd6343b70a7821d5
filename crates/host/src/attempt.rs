//! One attempt to connect a server.
//!
//! Invariant: an attempt that fails or is dropped leaves the set of servers unchanged.

use std::sync::Arc;

use crate::error::{HostError, not_ready};
use crate::server_spec::ServerSpec;
use crate::set::{FIRST_ROUND, HostState, ManagedServer, check_name};
use crate::slot::Slot;
use crate::status::Status;

/// An attempt to connect a server.
pub(crate) struct ConnectAttempt {
    host: Arc<HostState>,
    slot: Arc<Slot>,
    /// The round that the attempt waits for.
    round: u64,
    kind: AttemptKind,
}

/// How the server of an attempt relates to the host's set of servers.
enum AttemptKind {
    /// The set has this server already, with the same spec.
    Existing,
    /// New in the set; removed unless the attempt succeeds.
    Added,
    /// Outside the set until it is ready, while the server it replaces keeps running.
    Replacing(Box<ManagedServer>),
    /// The attempt has ended.
    Done,
}

impl ConnectAttempt {
    fn new(host: &Arc<HostState>, slot: Arc<Slot>, round: u64, kind: AttemptKind) -> Self {
        Self { host: Arc::clone(host), slot, round, kind }
    }

    /// Waits for the result. A connected server is in the set afterwards.
    ///
    /// # Errors
    /// When it did not connect; it is then in the set only if it was before.
    pub(crate) async fn finish(mut self) -> Result<(), HostError> {
        let connected = connect_result(&self.slot, self.slot.wait_until_settled(self.round).await);
        match (self.take_kind(), connected) {
            (AttemptKind::Added, Err(error)) => {
                if let Some(entry) = self.host.remove_slot(self.slot.id) {
                    entry.connection.close().await;
                }
                Err(error)
            }
            (AttemptKind::Replacing(entry), Ok(())) => {
                // Its tools are listed in the same update that replaces the other server.
                let listing = match self.slot.current() {
                    Some(session) => session.list_tools().await.ok(),
                    None => None,
                };
                self.host.replace(*entry, listing.as_deref())
            }
            (AttemptKind::Replacing(entry), Err(error)) => {
                entry.connection.close().await;
                Err(error)
            }
            (AttemptKind::Existing | AttemptKind::Added | AttemptKind::Done, connected) => connected,
        }
    }

    fn take_kind(&mut self) -> AttemptKind {
        std::mem::replace(&mut self.kind, AttemptKind::Done)
    }
}

impl HostState {
    /// Begins to connect a server. A new one joins the set at once; one that replaces another when it is ready.
    pub(crate) fn begin_connect(
        self: &Arc<Self>,
        name: &str,
        desired: ServerSpec,
    ) -> Result<ConnectAttempt, HostError> {
        check_name(name)?;
        let mut table = self.table.lock();
        if table.is_closed {
            return Err(HostError::Closed);
        }
        match table.entries.iter().position(|entry| *entry.slot().name == *name) {
            Some(at) if table.entries[at].desired.is_same_server(&desired) => {
                table.entries[at].desired = desired;
                self.publish_to_gate(&table);
                let slot = Arc::clone(table.entries[at].slot());
                let round = slot.restart_if_down().unwrap_or(FIRST_ROUND);
                Ok(ConnectAttempt::new(self, slot, round, AttemptKind::Existing))
            }
            Some(_) => {
                let entry = self.spawn_server(&mut table, name, desired);
                entry.slot().start_initially(entry.initial_tools());
                let slot = Arc::clone(entry.slot());
                let kind = AttemptKind::Replacing(Box::new(entry));
                Ok(ConnectAttempt::new(self, slot, FIRST_ROUND, kind))
            }
            None => {
                drop(table);
                let (slot, round) = self.add(name, desired)?;
                Ok(ConnectAttempt::new(self, slot, round, AttemptKind::Added))
            }
        }
    }
}

impl Drop for ConnectAttempt {
    fn drop(&mut self) {
        if let AttemptKind::Added = self.take_kind() {
            drop(self.host.remove_slot(self.slot.id));
        }
    }
}

/// Converts the status at the end of an attempt.
pub(crate) fn connect_result(slot: &Slot, status: Status) -> Result<(), HostError> {
    let server = || Arc::clone(&slot.name);
    match status {
        Status::Ready(_) | Status::Degraded { .. } | Status::Asleep => Ok(()),
        Status::BackingOff { failure, .. } | Status::Failed(failure) => {
            Err(HostError::Connect { server: server(), failure: Box::new(failure) })
        }
        // As desired: its start policy says not to start it.
        Status::Disabled | Status::AwaitingApproval if slot.is_unstarted() => Ok(()),
        status => Err(not_ready(&slot.name, status)),
    }
}
