//! A server process, started anew for each first rung.

use std::sync::Arc;

use switchboard_session::link::{BoxFuture, Dial, Link, LinkError, Rung};
use switchboard_session::{Peer, PeerLimits};

use crate::stdio::child::spawn;
use crate::stdio::command::ChildCommand;

/// Opens links to one server by starting it.
///
/// The process that was asked in the modern way is asked again in the legacy way while it lives; one that died of the
/// question is started afresh.
#[derive(Debug, Clone)]
pub struct Stdio {
    command: ChildCommand,
    limits: PeerLimits,
}

impl Stdio {
    /// Starts this command.
    pub fn new(command: ChildCommand) -> Self {
        Self { command, limits: PeerLimits::default() }
    }

    /// With these limits on the connection.
    #[must_use]
    pub fn with_limits(mut self, limits: PeerLimits) -> Self {
        self.limits = limits;
        self
    }

    fn link(&self, rung: Rung, previous: Option<Arc<dyn Link>>) -> Result<Arc<dyn Link>, LinkError> {
        match (rung, previous) {
            (Rung::Legacy, Some(link)) if link.ended().is_none() => Ok(link),
            _ => {
                let (pipe, _) = spawn(&self.command)?;
                Ok(Peer::start(pipe, self.limits.clone()))
            }
        }
    }
}

impl Dial for Stdio {
    fn dial(
        &self,
        rung: Rung,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move { self.link(rung, previous) })
    }
}
