//! One attempt to connect a server.
//!
//! Invariant: an attempt that fails, or that is dropped, leaves the set of servers as it was before.

use std::sync::Arc;

use crate::error::{HostError, not_ready};
use crate::server_spec::ServerSpec;
use crate::set::{Entry, FIRST, Inner, check_name};
use crate::slot::Slot;
use crate::status::Status;

/// An attempt to connect a server.
pub(crate) struct Attempt {
    host: Arc<Inner>,
    slot: Arc<Slot>,
    /// The round of the slot that the attempt waits for.
    round: u64,
    kind: AttemptKind,
}

enum AttemptKind {
    /// The set has this server already, described in the same way.
    Existing,
    /// New in the set; taken out again unless the attempt succeeds.
    Added,
    /// Kept beside the set until it is ready, while the server it replaces goes on.
    Replacing(Box<Entry>),
    /// Over.
    Done,
}

impl Attempt {
    pub(crate) fn existing(host: &Arc<Inner>, slot: Arc<Slot>, round: u64) -> Self {
        Self { host: Arc::clone(host), slot, round, kind: AttemptKind::Existing }
    }

    pub(crate) fn added(host: &Arc<Inner>, slot: Arc<Slot>, round: u64) -> Self {
        Self { host: Arc::clone(host), slot, round, kind: AttemptKind::Added }
    }

    pub(crate) fn replacing(host: &Arc<Inner>, entry: Entry, round: u64) -> Self {
        let slot = Arc::clone(entry.slot());
        Self { host: Arc::clone(host), slot, round, kind: AttemptKind::Replacing(Box::new(entry)) }
    }

    /// Waits for the outcome. A server that connected is in the set afterwards.
    ///
    /// # Errors
    /// When it did not connect; unless it was in the set before, it is not afterwards.
    pub(crate) async fn finish(mut self) -> Result<(), HostError> {
        let connected = outcome(&self.slot, self.slot.settled(self.round).await);
        match (self.take_kind(), connected) {
            (AttemptKind::Added, Err(error)) => {
                if let Some(entry) = self.host.take_slot(self.slot.id) {
                    entry.running.close().await;
                }
                Err(error)
            }
            (AttemptKind::Replacing(entry), Ok(())) => {
                // Its tools are listed in the moment it takes the place of the other server.
                let listing = match self.slot.current() {
                    Some(session) => session.list_tools().await.ok(),
                    None => None,
                };
                self.host.replace(*entry, listing.as_deref())
            }
            (AttemptKind::Replacing(entry), Err(error)) => {
                entry.running.close().await;
                Err(error)
            }
            (AttemptKind::Existing | AttemptKind::Added | AttemptKind::Done, connected) => connected,
        }
    }

    fn take_kind(&mut self) -> AttemptKind {
        std::mem::replace(&mut self.kind, AttemptKind::Done)
    }
}

impl Inner {
    /// Begins to connect a server. A new one is in the set at once; one that replaces another joins it when it is ready.
    pub(crate) fn attempt(self: &Arc<Self>, name: &str, desired: ServerSpec) -> Result<Attempt, HostError> {
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
                let round = slot.try_now().unwrap_or(FIRST);
                Ok(Attempt::existing(self, slot, round))
            }
            Some(_) => {
                let entry = self.entry(&mut table, name, desired);
                entry.slot().begin(entry.outset());
                Ok(Attempt::replacing(self, entry, FIRST))
            }
            None => {
                drop(table);
                let (slot, round) = self.add(name, desired)?;
                Ok(Attempt::added(self, slot, round))
            }
        }
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let AttemptKind::Added = self.take_kind() {
            drop(self.host.take_slot(self.slot.id));
        }
    }
}

/// What a start came to, for whoever asked for it.
pub(crate) fn outcome(slot: &Slot, status: Status) -> Result<(), HostError> {
    let server = || Arc::clone(&slot.name);
    match status {
        Status::Ready(_) | Status::Degraded { .. } | Status::Asleep => Ok(()),
        Status::BackingOff { failure, .. } | Status::Failed(failure) => {
            Err(HostError::Connect { server: server(), failure: Box::new(failure) })
        }
        // As it was wanted: nothing was to be started.
        Status::Disabled | Status::AwaitingApproval if slot.is_unstarted() => Ok(()),
        status => Err(not_ready(&slot.name, status)),
    }
}
