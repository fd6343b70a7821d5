//! The secrets of all servers, for masks.

use switchboard_http::Secret;

use crate::host::Host;

impl Host {
    /// Returns the values of the variables and headers of all servers, and the credentials that were sent to them: what to mask
    /// where the traffic is shown. Not the credentials of an authorizer that is part of a transport.
    pub fn secret_values(&self) -> Vec<Secret> {
        let configured = self.inner.slots();
        let configured = configured.iter().flat_map(|slot| slot.spec.transport.secret_values());
        configured.chain(self.inner.shared.connectors.sent.secrets()).collect()
    }
}
