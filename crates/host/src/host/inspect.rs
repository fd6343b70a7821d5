//! Methods of the host for programs that display it, such as a console.

use switchboard_protocol::Root;

use crate::error::HostError;
use crate::event::Drift;
use crate::host::Host;
use crate::server_spec::ServerSpec;
use crate::telemetry::RecentCalls;

impl Host {
    /// Returns the roots that servers receive, if they were set.
    pub fn roots(&self) -> Option<Vec<Root>> {
        self.inner.shared.roots.read().clone()
    }

    /// Returns the specification of one server. Its transport holds secrets, which its `Debug` output masks.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn spec(&self, name: &str) -> Result<ServerSpec, HostError> {
        Ok(self.inner.slot(name)?.spec.clone())
    }

    /// Returns the last calls of one server, for a display of its latency.
    ///
    /// # Errors
    /// When there is no such server.
    pub fn recent_calls(&self, name: &str) -> Result<RecentCalls, HostError> {
        Ok(self.inner.slot(name)?.meter.recent_calls())
    }

    /// Returns the tools whose listed definition differs from the pinned one.
    pub fn drifted_tools(&self) -> Vec<Drift> {
        self.inner.shared.registry.drifted_tools()
    }
}
