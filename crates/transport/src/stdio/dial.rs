//! Opens links to a server by starting its process.

use std::sync::Arc;

use switchboard_session::MuxLink;
use switchboard_session::link::{BoxFuture, Dial, DialStep, Link, LinkError};

use crate::stdio::{ChildHandle, Stdio, spawn};

impl Stdio {
    /// Starts the process and connects to it, with the tap, the slot and the connection limits that were set.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub fn start(&self) -> Result<(Arc<MuxLink>, ChildHandle), LinkError> {
        let (mut pipe, child) = spawn(self)?;
        if let Some(tap) = &self.tap {
            pipe = pipe.with_tap(tap.clone());
        }
        if let Some(slot) = &self.child_slot {
            slot.set(Some(child.clone()));
        }
        Ok((MuxLink::start(pipe, self.connection.clone()), child))
    }
}

/// A process that answers the modern probe with an error is reused for the legacy handshake; one that exited is started
/// again.
impl Dial for Stdio {
    fn dial(
        &self,
        step: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move {
            match (step, previous) {
                (DialStep::Legacy, Some(link)) if link.ended().is_none() => Ok(link),
                _ => self.start().map(|(peer, _)| peer as Arc<dyn Link>),
            }
        })
    }
}
