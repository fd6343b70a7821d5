//! A server process, started anew for each first rung.

use std::sync::Arc;

use switchboard_session::link::{BoxFuture, Dial, Link, LinkError, Rung, Tap};
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
    tap: Option<Tap>,
}

impl Stdio {
    /// Starts this command.
    pub fn new(command: ChildCommand) -> Self {
        Self { command, limits: PeerLimits::default(), tap: None }
    }

    /// With these limits on the connection.
    #[must_use]
    pub fn with_limits(mut self, limits: PeerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// With a look at everything that goes by.
    #[must_use]
    pub fn with_tap(mut self, tap: Tap) -> Self {
        self.tap = Some(tap);
        self
    }

    fn link(&self, rung: Rung, previous: Option<Arc<dyn Link>>) -> Result<Arc<dyn Link>, LinkError> {
        match (rung, previous) {
            (Rung::Legacy, Some(link)) if link.ended().is_none() => Ok(link),
            _ => {
                let (mut pipe, _) = spawn(&self.command)?;
                if let Some(tap) = &self.tap {
                    pipe = pipe.with_tap(tap.clone());
                }
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

/// A command is a way to its server.
impl Dial for ChildCommand {
    fn dial(
        &self,
        rung: Rung,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move { Stdio::new(self.clone()).link(rung, previous) })
    }
}
