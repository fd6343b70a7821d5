//! Converts errors of the host to errors of a command.

use switchboard::CallError;
use switchboard::host::{self, HostError, Status};
use switchboard::transport::LinkError;
use switchboard::transport::link::Challenge;

use super::{CommandError, ExitKind, challenge_error};
use crate::sanitize::one_line;

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

    /// Prefixes the message with the name of the server.
    fn for_server(self, server: &str) -> Self {
        self.update(|report| report.message = format!("{}: {}", one_line(server), report.message))
    }
}

/// Reports a server that requires authentication.
fn auth_error(server: &str, challenge: &Challenge) -> CommandError {
    let scope = challenge.scope.as_deref().map(|scope| format!("; required scope: {scope}"));
    let metadata = challenge.resource_metadata.as_deref();
    let metadata = metadata.map(|metadata| format!("; how to get one: {metadata}"));
    challenge_error(challenge).for_server(server).hint(format!(
        "log in: switchboard login {}; or add a header to its entry: \"headers\": {{\"Authorization\": \"Bearer \
         ${{TOKEN}}\"}}{}{}",
        one_line(server),
        scope.unwrap_or_default(),
        metadata.unwrap_or_default(),
    ))
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
    let hint = format!("{}; `switchboard doctor {}` shows every step", failure.next_step(), one_line(server));
    error.for_server(server).hint(hint)
}
