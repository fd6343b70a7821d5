//! The stored logins as rows: which servers use each, and whether it works.

use std::time::SystemTime;

use switchboard::Host;
use switchboard::auth::{GrantState, StoredGrant};
use switchboard::host::{ServerSpec, Status};
use switchboard::login::{AccountSelector, login_address};
use switchboard_console::contract::{LoginRow, LoginState};

use super::identity::{select_login, unix_ms};
use crate::sanitize::one_line;

/// Returns the rows of stored logins.
pub(super) fn login_rows(
    logins: &[StoredGrant],
    servers: &[(String, ServerSpec)],
    selector: &AccountSelector,
    host: &Host,
) -> Vec<LoginRow> {
    let row = |login: &StoredGrant| {
        let users = servers_of(login, logins, servers, selector);
        LoginRow {
            address: login.grant.server.clone(),
            principal: None,
            account: login.key.account.clone(),
            issuer: login.key.issuer.clone(),
            client_id: login.key.client_id.clone(),
            scopes: login.grant.scopes().iter().map(str::to_owned).collect(),
            state: state_of(login, &users, host),
            expires_at_ms: login.grant.expires_at.map(unix_ms),
            can_refresh: login.grant.refresh_token.is_some(),
            servers: users,
        }
    };
    logins.iter().map(row).collect()
}

/// Returns the servers that use a login.
fn servers_of(
    login: &StoredGrant,
    logins: &[StoredGrant],
    servers: &[(String, ServerSpec)],
    selector: &AccountSelector,
) -> Vec<String> {
    let uses = |spec: &ServerSpec| {
        let address = login_address(spec).filter(|address| address.as_str() == login.grant.server);
        let used = address.and_then(|address| select_login(spec, address.as_str(), logins, selector).ok()?);
        used.is_some_and(|used| used.key == login.key)
    };
    servers.iter().filter(|(_, spec)| uses(spec)).map(|(name, _)| name.clone()).collect()
}

fn state_of(login: &StoredGrant, users: &[String], host: &Host) -> LoginState {
    if let GrantState::NeedsLogin { reason } = &login.grant.state {
        return LoginState::NeedsLogin { reason: format!("the server rejected it: {}", one_line(reason)) };
    }
    if users.is_empty() {
        return LoginState::Orphaned { reason: "no configured server uses it".to_owned() };
    }
    let is_expired = login.grant.expires_at.is_some_and(|expires_at| expires_at <= SystemTime::now());
    if is_expired && login.grant.refresh_token.is_none() {
        return LoginState::NeedsLogin {
            reason: "it has expired, and the server issued no refresh token".to_owned(),
        };
    }
    let asked = users.iter().find_map(|name| match host.state(name) {
        Ok(Status::NeedsAuth(challenge)) => Some(challenge),
        _ => None,
    });
    match asked {
        Some(challenge) => match &challenge.scope {
            Some(scope) => LoginState::NeedsUpdate {
                reason: format!("the server asks for the scope {}", one_line(scope)),
            },
            None => LoginState::NeedsLogin { reason: one_line(&challenge.requirement.next_step()) },
        },
        None => LoginState::Active,
    }
}
