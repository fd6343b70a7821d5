//! Logins by device code: from a challenge to a grant without a callback.

use crate::device::{self, DEVICE_CODE, DeviceChannel};
use crate::discovery::Discovery;
use crate::dpop::DpopKey;
use crate::error::AuthError;
use crate::form::Form;
use crate::oauth::obtain::{Obtainer, TokenDemand, is_outdated_client};
use crate::scope::{self, Scopes};
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
        let scopes = self.scopes(&discovery, demand);
        let dpop = self.needs_dpop(&discovery, demand).then(DpopKey::generate);
        match self.log_in_by_code(&discovery, &scopes, dpop.as_ref(), channel).await {
            Err(error) if error.code() == Some("invalid_scope") && self.options.scopes.is_none() => {
                let challenged = scope::challenged_scopes(&demand.challenges).unwrap_or_default();
                let fewer = if challenged == scopes { Scopes::default() } else { challenged };
                self.log_in_by_code(&discovery, &fewer, dpop.as_ref(), channel).await
            }
            other => other,
        }
    }

    /// Shows a code and polls. A stored client that the server no longer knows, or knows for fewer scopes, is registered
    /// anew, once.
    async fn log_in_by_code(
        &self,
        discovery: &Discovery,
        scopes: &Scopes,
        dpop: Option<&DpopKey>,
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
                Err(error) if chosen.is_stored && !retried && is_outdated_client(&error) => {
                    self.store.set_client(&discovery.server.issuer, DEVICE_CODE, None).await?;
                    retried = true;
                }
                Err(error) => return Err(error),
            }
        }
    }
}
