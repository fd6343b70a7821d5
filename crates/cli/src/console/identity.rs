//! Which identity reaches a server: a stored login, headers, variables, or the user who runs the program.

use std::time::SystemTime;

use switchboard::auth::StoredGrant;
use switchboard::host::{ServerSpec, Transport};
use switchboard::login::{AccountChoice, AccountSelector, login_address};
use switchboard_console::contract::Identity;

use crate::environment::variable;
use crate::sanitize::one_line;

/// Returns the identity that reaches a server, given the stored logins. `uses_logins` is whether the host sends them.
pub(crate) fn identity_of(
    spec: &ServerSpec,
    logins: &[StoredGrant],
    selector: &AccountSelector,
    uses_logins: bool,
) -> Identity {
    match &spec.transport {
        Transport::Stdio(stdio) => {
            let set = stdio.variables().iter().map(|(name, _)| name.to_string_lossy());
            let inherited = stdio.inherited_variables().iter().map(|name| name.to_string_lossy());
            let names: Vec<String> = set.chain(inherited).map(|name| one_line(&name)).collect();
            match names.is_empty() {
                true => Identity::Process { user: user_name() },
                false => Identity::Environment { names },
            }
        }
        Transport::Http(_) | Transport::Proxy { .. } => {
            if spec.header_helper.is_some() {
                return Identity::HeadersHelper { command: helper_command(spec) };
            }
            let headers = header_names(spec);
            let login = if uses_logins { login_of(spec, logins, selector) } else { None };
            match (login, headers.is_empty()) {
                (Some(identity), _) => identity,
                (None, false) => Identity::Headers { names: headers },
                (None, true) => Identity::None,
            }
        }
        Transport::InProcess(_) | Transport::Registered { .. } => Identity::None,
        Transport::Invalid(_) => Identity::Unknown { reason: "its entry is not valid".to_owned() },
        _ => Identity::Unknown { reason: "its transport belongs to the application".to_owned() },
    }
}

fn header_names(spec: &ServerSpec) -> Vec<String> {
    match &spec.transport {
        Transport::Http(http) => http.headers().iter().map(|(name, _)| one_line(name)).collect(),
        _ => Vec::new(),
    }
}

/// Returns the command of the helper, secrets masked.
fn helper_command(spec: &ServerSpec) -> String {
    let written = spec.written.as_ref().and_then(|entry| entry.get("headersHelper"));
    match written {
        Some(serde_json::Value::String(command)) => one_line(command),
        Some(other) => one_line(&other.to_string()),
        None => "a command of the configuration".to_owned(),
    }
}

/// Returns the identity of the login that is used; `None` without a login.
fn login_of(spec: &ServerSpec, logins: &[StoredGrant], selector: &AccountSelector) -> Option<Identity> {
    let address = login_address(spec)?;
    let login = match select_login(spec, address.as_str(), logins, selector) {
        Ok(login) => login?,
        Err(accounts) => {
            let reason =
                format!("several accounts are logged in, and none is chosen: {}", accounts.join(", "));
            return Some(Identity::Unknown { reason: one_line(&reason) });
        }
    };
    Some(Identity::Oauth {
        account: login.key.account.clone(),
        issuer: login.key.issuer.clone(),
        scopes: login.grant.scopes().iter().map(str::to_owned).collect(),
        expires_at_ms: login.grant.expires_at.map(unix_ms),
        can_refresh: login.grant.refresh_token.is_some(),
    })
}

/// Returns the login that a server uses.
///
/// # Errors
/// Returns the accounts if it is not clear which one is meant.
pub(super) fn select_login<'a>(
    spec: &ServerSpec,
    address: &str,
    logins: &'a [StoredGrant],
    selector: &AccountSelector,
) -> Result<Option<&'a StoredGrant>, Vec<String>> {
    let configured = spec.oauth.as_ref().and_then(|oauth| oauth.account.clone()).map(AccountSelector::Named);
    let selector = match (selector, &configured) {
        (AccountSelector::Any | AccountSelector::Preferred(_), Some(configured)) => configured,
        _ => selector,
    };
    match selector.choose_at(logins, address) {
        AccountChoice::Account(account) => {
            Ok(logins.iter().find(|login| login.grant.server == address && login.key.account == account))
        }
        AccountChoice::Ambiguous(accounts) => Err(accounts),
    }
}

/// Returns milliseconds since the epoch.
pub(crate) fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn user_name() -> String {
    let named =
        ["USER", "LOGNAME"].into_iter().find_map(|name| variable(name).filter(|user| !user.is_empty()));
    named.map_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()), |user| one_line(&user))
}
