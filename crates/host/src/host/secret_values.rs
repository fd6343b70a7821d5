//! The secrets of all servers, for masks.

use switchboard_http::Secret;

use crate::host::Host;

impl Host {
    /// Returns the values of the variables and headers of all servers: what to mask where the traffic is shown.
    pub fn secret_values(&self) -> Vec<Secret> {
        self.inner.slots().iter().flat_map(|slot| slot.spec.transport.secret_values()).collect()
    }
}
