//! The logins of configured servers, for `status`: who is logged in until when.

use std::collections::HashMap;
use std::time::SystemTime;

use serde_json::{Value, json};
use switchboard::auth::StoredGrant;
use switchboard::host::config::{ConfiguredServer, ResolvedConfig};
use switchboard::host::{ServerSpec, ServerStatus};
use switchboard::protocol::{OrderedMap, Raw};
use switchboard::transport::http_client::Address;

use crate::error::CommandError;
use crate::login::{AccountSelector, LoginOverview, expiry_text, login_json};
use crate::output::encode;
use crate::sanitize::one_line;

/// The logins that configured servers use, by server.
#[derive(Debug, Default)]
pub(crate) struct StatusLogins(HashMap<String, StoredGrant>);

impl StatusLogins {
    /// Reads the logins. A token store that cannot be read has none: the host has warned about it.
    pub(crate) async fn read(files: &ResolvedConfig, selector: &AccountSelector) -> Self {
        let Ok(logins) = LoginOverview::read().await else { return Self::default() };
        let find = |server: &ConfiguredServer| {
            let oauth = server.plan.as_ref().ok().and_then(|plan| plan.oauth.as_ref());
            let configured = oauth.and_then(|oauth| oauth.account.clone()).map(AccountSelector::Named);
            let selector = match (selector, &configured) {
                (AccountSelector::Any | AccountSelector::Preferred(_), Some(configured)) => configured,
                _ => selector,
            };
            let login = logins.select(&login_address(server)?, selector).ok()??;
            Some((server.name.clone(), login.clone()))
        };
        Self(files.servers.iter().filter_map(find).collect())
    }

    /// Returns the login of a server in words: `work, for 59 min`.
    pub(crate) fn text(&self, server: &str) -> Option<String> {
        let login = self.0.get(server)?;
        Some(format!("{}, {}", one_line(&login.key.account), expiry_text(login, SystemTime::now())))
    }

    /// Returns a status as JSON, with the login of the server.
    ///
    /// # Errors
    /// Returns an error if the status cannot be encoded.
    pub(crate) fn status_json(&self, status: &ServerStatus) -> Result<Raw, CommandError> {
        let encoded = encode(status)?;
        let Some(login) = self.0.get(&status.name) else { return Ok(encoded) };
        let mut members: OrderedMap<Raw> = encoded.decode().unwrap_or_default();
        members.insert("loggedIn", encode(&summary(login))?);
        encode(&members)
    }
}

/// Returns the members of a login that a status has.
fn summary(login: &StoredGrant) -> Value {
    let all = login_json(login);
    let members = ["account", "issuer", "scopes", "expiresAt", "canRefresh", "needsLogin"];
    json!(members.map(|name| (name, all[name].clone())).into_iter().collect::<HashMap<_, _>>())
}

/// Returns the address at which a configured server wants a login; `None` if it is not at a URL or has credentials of its own.
pub(crate) fn login_address(server: &ConfiguredServer) -> Option<Address> {
    switchboard::login::login_address(&ServerSpec::from_configured(server).ok()?)
}
