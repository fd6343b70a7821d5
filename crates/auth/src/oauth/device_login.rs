//! Logins by device code: from a challenge to a grant without a callback.

use crate::device::{self, DEVICE_CODE, DeviceChannel};
use crate::discovery::Discovery;
use crate::dpop::DpopBinding;
use crate::error::AuthError;
use crate::form::Form;
use crate::oauth::demand::TokenDemand;
use crate::oauth::obtain::{ClientSource, Obtainer, is_unknown_client};
use crate::scope::Scopes;
use crate::store::{Grant, GrantKey};

impl Obtainer<'_> {
    /// Obtains a grant by device code (RFC 8628).
    pub(super) async fn obtain_with_device(
        &self,
        demand: &TokenDemand,
        channel: &dyn DeviceChannel,
    ) -> Result<(GrantKey, Grant), AuthError> {
        let discovery = self.discover(&demand.challenges).await?;
        if discovery.server.device_authorization_endpoint.is_none() {
            // Before a client is registered for nothing.
            return Err(AuthError::DeviceUnsupported { issuer: discovery.server.issuer });
        }
        self.check_preset_issuer(&discovery).await?;
        let mut choices = self.scope_choices(&discovery, demand)?;
        let dpop = self.dpop_binding(&discovery, demand);
        loop {
            let outcome = self.log_in_by_code(&discovery, &choices.current, dpop.as_ref(), channel).await;
            if !choices.advance_after(&outcome) {
                return outcome;
            }
        }
    }

    /// Shows a code and polls. A stored client that the server no longer knows is registered anew, once.
    async fn log_in_by_code(
        &self,
        discovery: &Discovery,
        scopes: &Scopes,
        dpop: Option<&DpopBinding>,
        channel: &dyn DeviceChannel,
    ) -> Result<(GrantKey, Grant), AuthError> {
        let target = || {
            let mut form = Form::default();
            form.add_optional("scope", Some(&scopes.to_string()));
            form.add_optional("resource", self.resource(discovery));
            form
        };
        let mut retried = false;
        loop {
            let chosen = self.client(discovery, None, scopes).await?;
            let outcome = async {
                let pending =
                    device::request(self.fetcher, &discovery.server, &chosen.client, target()).await?;
                let endpoint = self.endpoint(discovery, &chosen.client, dpop);
                pending.wait(&endpoint, &target(), channel).await
            };
            match outcome.await {
                Ok(response) => {
                    return Ok(self.grant(discovery, chosen.client, scopes.clone(), dpop, response));
                }
                Err(error)
                    if chosen.source == ClientSource::Stored && !retried && is_unknown_client(&error) =>
                {
                    self.store.set_client(&discovery.server.issuer, DEVICE_CODE, None).await?;
                    retried = true;
                }
                Err(error) => return Err(error),
            }
        }
    }
}
