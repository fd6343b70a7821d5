//! One attempt to connect a server.
//!
//! Invariant: an attempt that fails, or that is dropped, leaves the set of servers as it was before.

use std::sync::Arc;

use crate::error::HostError;
use crate::host::{Inner, outcome};
use crate::set::Entry;
use crate::slot::Slot;

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

impl Drop for Attempt {
    fn drop(&mut self) {
        if let AttemptKind::Added = self.take_kind() {
            drop(self.host.take_slot(self.slot.id));
        }
    }
}
