//! What a host could not do, as this command tells it.

use switchboard::host::{self, Status as State};
use switchboard::session::link::Challenge;
use switchboard::{CallError, HostError, LinkError};

use super::{Failure, Status, challenged};
use crate::sanitize::one_line;

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        use Status::{Other, Unreachable, Usage};
        let (text, next) = (error.to_string(), error.next_step());
        match error {
            HostError::NotConnected { .. } => Self::new(Other, "not_configured", text)
                .hint("`switchboard list` shows the remembered servers"),
            HostError::Connect { server, failure } => lost(&server, &failure),
            HostError::NeedsAuth { server, challenge } => login(&server, &challenge),
            HostError::NotReady { server, status } => Self::not_ready(&server, *status),
            HostError::UnknownTool { .. } => {
                Self::new(Other, "unknown_tool", text).hint("`switchboard tools` lists all tools")
            }
            HostError::Withheld { .. } => Self::new(Other, "withheld", text).hint(next),
            HostError::Refused { .. } => Self::new(Other, "not_permitted", text).hint(next),
            HostError::Arguments { .. } => Self::new(Usage, "arguments", text).hint(next),
            HostError::Call { server, error, repair, .. } => {
                let failure = Self::from(*error).of(&server);
                match repair {
                    Some(repair) => failure.hint(repair),
                    None => failure,
                }
            }
            HostError::Session { server, error } => Self::from(*error).of(&server),
            HostError::Output { .. } => Self::new(Unreachable, "protocol", text).hint(next),
            _ => Self::new(Other, "failed", text).hint(next),
        }
    }
}

impl Failure {
    /// A server that cannot be used as it is.
    pub(crate) fn not_ready(server: &str, status: State) -> Self {
        let name = one_line(server);
        match status {
            State::AwaitingApproval => Self::new(
                Status::Other,
                "not_approved",
                format!("{name} is configured by the project's file and not approved yet"),
            )
            .hint(format!("look at what it would run, and approve it: switchboard approve {name}")),
            State::Disabled => Self::new(Status::Other, "disabled", format!("{name} is disabled"))
                .hint(format!("switchboard enable {name}")),
            State::NeedsAuth(challenge) => login(server, &challenge),
            State::BackingOff { failure, .. } | State::Failed(failure) | State::Degraded { failure, .. } => {
                lost(server, &failure)
            }
            other => Self::new(Status::Unreachable, "not_ready", format!("{name} is not ready: {other}"))
                .hint(other.next_step()),
        }
    }

    /// The same, said of a server by its name.
    fn of(self, server: &str) -> Self {
        self.with(|report| report.message = format!("{}: {}", one_line(server), report.message))
    }
}

/// A server that wants a login.
fn login(server: &str, challenge: &Challenge) -> Failure {
    let wants = challenge.scope.as_deref().map(|scope| format!("; required scope: {scope}"));
    let where_from = challenge.resource_metadata.as_deref();
    let where_from = where_from.map(|metadata| format!("; how to get one: {metadata}"));
    challenged(challenge).of(server).hint(format!(
        "add a header to its entry: \"headers\": {{\"Authorization\": \"Bearer ${{TOKEN}}\"}}{}{}",
        wants.unwrap_or_default(),
        where_from.unwrap_or_default(),
    ))
}

/// A server that was not reached, or was lost.
fn lost(server: &str, failure: &host::ConnectionError) -> Failure {
    let told = match failure {
        host::ConnectionError::Session(CallError::Link(LinkError::Challenged(challenge))) => {
            return login(server, challenge);
        }
        host::ConnectionError::Session(error) => Failure::from(error.clone()),
        other => Failure::new(Status::Unreachable, "unreachable", other.to_string()),
    };
    let hint = format!("{}; `switchboard doctor {}` shows every step", failure.next_step(), one_line(server));
    told.of(server).hint(hint)
}
