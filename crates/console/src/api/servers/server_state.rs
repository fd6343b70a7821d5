//! The status of a server as the page reads it.

use switchboard_host::{ConnectionError, LoginReport, Status};

use crate::api::clock::unix_ms_of;
use crate::contract::{LoginRequirement, RequirementKind, ServerState};

/// Converts a status. `login` is the report of a login that is needed, `approve_command` the command that approves the server.
/// What the server has written goes through `mask`.
pub(super) fn server_state(
    status: &Status,
    login: Option<&LoginReport>,
    approve_command: String,
    mask: impl Fn(String) -> String,
) -> ServerState {
    let error = |failure: &ConnectionError| mask(failure.to_string());
    match status {
        Status::Disabled => ServerState::Disabled,
        Status::AwaitingApproval => ServerState::AwaitingApproval { command: approve_command },
        Status::Asleep => ServerState::Asleep,
        Status::Starting { since, attempt } => {
            ServerState::Starting { since_ms: unix_ms_of(since.into_std()), attempt: u64::from(*attempt) }
        }
        Status::Ready(_) => ServerState::Ready,
        Status::Degraded { failure, .. } => {
            ServerState::Degraded { error: error(failure), next_step: status.next_step() }
        }
        Status::BackingOff { until, attempt, failure } => ServerState::BackingOff {
            until_ms: unix_ms_of(until.into_std()),
            attempt: u64::from(*attempt),
            error: error(failure),
            next_step: status.next_step(),
        },
        Status::NeedsAuth(_) => ServerState::NeedsAuth { login: login_requirement(status, login) },
        Status::Failed(failure) => ServerState::Failed {
            error: error(failure),
            next_step: status.next_step(),
            stderr_tail: failure.stderr_tail().map(|tail| mask(tail.to_owned())),
        },
        _ => ServerState::Stopped,
    }
}

fn login_requirement(status: &Status, login: Option<&LoginReport>) -> LoginRequirement {
    let kind = match login.map(|login| login.requirement) {
        Some("client-registration") => RequirementKind::ClientRegistration,
        Some("administrator") => RequirementKind::Administrator,
        Some("account") => RequirementKind::Account,
        Some("other-credentials") => RequirementKind::OtherCredentials,
        _ => RequirementKind::Login,
    };
    LoginRequirement {
        requirement: kind,
        scope: login.and_then(|login| login.scope.clone()),
        issuer: login.and_then(|login| login.issuer.clone()),
        redirect_uri: login.and_then(|login| login.redirect_uri.clone()),
        code: login.and_then(|login| login.code.clone()),
        accounts: login.map(|login| login.accounts.clone()).unwrap_or_default(),
        next_step: login.map_or_else(|| status.next_step(), |login| login.next_step.clone()),
    }
}
