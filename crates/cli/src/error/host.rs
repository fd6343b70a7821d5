//! Converts errors of the host to errors of a command.

use switchboard::CallError;
use switchboard::host::{self, HostError, Status};
use switchboard::transport::LinkError;
use switchboard::transport::link::{Challenge, LoginRequirement, UnreachableKind};

use super::{CommandError, ExitKind, challenge_error};
use crate::provider_advice::explain_failure;
use crate::sanitize::one_line;
use crate::shell_quote::shell_quote;

impl From<HostError> for CommandError {
    fn from(error: HostError) -> Self {
        use ExitKind::{Other, Unreachable, Usage};
        let (text, next) = (error.to_string(), error.next_step());
        match error {
            HostError::NotConnected { .. } => Self::new(Other, "not_configured", text)
                .hint("`switchboard list` shows the configured servers"),
            HostError::Connect { server, failure } => connection_error(&server, &failure),
            HostError::NeedsAuth { server, challenge } => auth_error(&server, &challenge),
            HostError::NotReady { server, status } => Self::not_ready(&server, *status),
            HostError::UnknownTool { .. } => {
                Self::new(Other, "unknown_tool", text).hint("`switchboard tools` lists all tools")
            }
            HostError::Withheld { .. } => Self::new(Other, "withheld", text).hint(next),
            HostError::Refused { .. } => Self::new(Other, "not_permitted", text).hint(next),
            HostError::Arguments { .. } => Self::new(Usage, "arguments", text).hint(next),
            HostError::Call { server, error, repair, .. } => {
                let failure = Self::from(*error).for_server(&server);
                match repair {
                    Some(repair) => failure.hint(repair),
                    None => failure,
                }
            }
            HostError::Session { server, error } => Self::from(*error).for_server(&server),
            HostError::Output { .. } => Self::new(Unreachable, "protocol", text).hint(next),
            _ => Self::new(Other, "failed", text).hint(next),
        }
    }
}

impl CommandError {
    /// Creates an error about a server that is not ready.
    pub(crate) fn not_ready(server: &str, status: Status) -> Self {
        let name = one_line(server);
        match status {
            Status::AwaitingApproval => Self::other(
                "not_approved",
                format!("{name} is configured by the project's file and not approved yet"),
            )
            .hint(format!("review what it would run, and approve it: switchboard approve {name}")),
            Status::Disabled => Self::other("disabled", format!("{name} is disabled"))
                .hint(format!("switchboard enable {name}")),
            Status::NeedsAuth(challenge) => auth_error(server, &challenge),
            Status::BackingOff { failure, .. }
            | Status::Failed(failure)
            | Status::Degraded { failure, .. } => connection_error(server, &failure),
            other => Self::new(ExitKind::Unreachable, "not_ready", format!("{name} is not ready: {other}"))
                .hint(other.next_step()),
        }
    }

    /// Adds an account to the login command of the hint.
    pub(crate) fn with_login_account(self, account: Option<&str>) -> Self {
        let Some(account) = account else { return self };
        self.update(|report| {
            if let (Some(hint), "authentication") = (&mut report.hint, report.kind) {
                *hint = with_account(hint, account);
            }
        })
    }

    /// Prefixes the message with the name of the server.
    fn for_server(self, server: &str) -> Self {
        self.update(|report| report.message = format!("{}: {}", one_line(server), report.message))
    }
}

/// Reports a server that requires authentication, with what has to happen next.
fn auth_error(server: &str, challenge: &Challenge) -> CommandError {
    let scope = challenge.scope.as_deref().map(|scope| format!("; required scope: {scope}"));
    let metadata = challenge.resource_metadata.as_deref();
    let metadata = metadata.map(|metadata| format!("; how to get one: {metadata}"));
    let hint = match &challenge.requirement {
        LoginRequirement::Login if let Some(step) = wider_login_step(server, challenge) => step,
        LoginRequirement::Login => format!(
            "{}; or add a header to its entry: \"headers\": {{\"Authorization\": \"Bearer ${{TOKEN}}\"}}{}{}",
            login_step(server, &challenge.requirement),
            scope.unwrap_or_default(),
            metadata.unwrap_or_default(),
        ),
        other => login_step(server, other),
    };
    challenge_error(challenge).for_server(server).hint(hint)
}

/// Returns the login that a call with too few scopes needs; `None` if scopes are not what is missing.
pub(super) fn wider_login_step(server: &str, challenge: &Challenge) -> Option<String> {
    let scope =
        challenge.scope.as_deref().filter(|_| challenge.error.as_deref() == Some("insufficient_scope"))?;
    let (name, scope) = (shell_quote(&one_line(server)), shell_quote(&one_line(scope)));
    Some(format!("log in with the scopes that this needs: switchboard login {name} --scope {scope}"))
}

/// Adds an account to the login command in a text.
pub(crate) fn with_account(text: &str, account: &str) -> String {
    const COMMAND: &str = "switchboard login ";
    let Some(start) = text.find(COMMAND).map(|at| at + COMMAND.len()) else { return text.to_owned() };
    // The name ends at the first separator outside of quotes.
    let (mut is_quoted, mut is_escaped) = (false, false);
    let is_end = |c: char| {
        is_quoted ^= c == '\'' && !is_escaped;
        is_escaped = c == '\\' && !is_quoted;
        !is_quoted && matches!(c, ';' | ',' | ' ')
    };
    let end = text[start..].find(is_end).map_or(text.len(), |length| start + length);
    format!("{} --account {}{}", &text[..end], shell_quote(&one_line(account)), &text[end..])
}

/// Returns what has to happen before a configured server accepts requests, with the command.
pub(crate) fn login_step(server: &str, requirement: &LoginRequirement) -> String {
    let name = shell_quote(&one_line(server));
    match requirement {
        LoginRequirement::Login => format!("log in: switchboard login {name}"),
        LoginRequirement::ClientRegistration { issuer, redirect_uri } => {
            let redirect =
                redirect_uri.as_deref().map(|uri| format!(" with the redirect URI {}", one_line(uri)));
            format!(
                "register a client at {}{}; then: switchboard login {name} --client-id ID",
                one_line(issuer),
                redirect.unwrap_or_default()
            )
        }
        LoginRequirement::Account { accounts } => {
            let example =
                accounts.first().map_or_else(|| "NAME".to_owned(), |account| shell_quote(&one_line(account)));
            format!("name one of your accounts, like --account {example}")
        }
        LoginRequirement::OtherCredentials => format!(
            "correct the Authorization header of its entry, or remove it and log in: switchboard login {name}"
        ),
        other => format!("{}; `switchboard why {name}` explains it", other.next_step()),
    }
}

/// Reports a server that cannot be reached or whose connection was lost.
fn connection_error(server: &str, failure: &host::ConnectionError) -> CommandError {
    let error = match failure {
        host::ConnectionError::Session(CallError::Link(LinkError::Challenged(challenge))) => {
            return auth_error(server, challenge);
        }
        host::ConnectionError::Session(error) => CommandError::from(error.clone()),
        other => CommandError::new(ExitKind::Unreachable, "unreachable", other.to_string()),
    };
    let error = error.for_server(server);
    match failure {
        // The authorization server refused a refresh, and the hint says what its code means.
        host::ConnectionError::Session(CallError::Link(LinkError::Unreachable {
            kind: UnreachableKind::Other,
            reason,
        })) if explain_failure(&[reason]).is_some() => error,
        _ => error.hint(format!(
            "{}; `switchboard doctor {}` shows every step",
            failure.next_step(),
            one_line(server)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_added_to_the_login_command_of_a_text() {
        for (text, expected) in [
            ("log in: switchboard login a; or not", "log in: switchboard login a --account work; or not"),
            ("switchboard login a --client-id ID", "switchboard login a --account work --client-id ID"),
            ("switchboard login 'a b; c'", "switchboard login 'a b; c' --account work"),
            (r"switchboard login 'it'\''s a' now", r"switchboard login 'it'\''s a' --account work now"),
            ("ask an administrator", "ask an administrator"),
        ] {
            assert_eq!(with_account(text, "work"), expected);
        }
    }
}
