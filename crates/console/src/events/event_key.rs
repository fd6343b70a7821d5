//! Keys of events that replace state: a later event with the same key makes an earlier one unnecessary.

use crate::contract::ConsoleEvent;

/// What an event replaces.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EventKey {
    Server(String),
    Catalog,
    Call(u64),
    Question(u64),
    Task { server: String, task_id: String },
    Subscription { server: String, uri: String },
    LoginAttempt(String),
    Logins,
    Gateway,
}

impl EventKey {
    /// Returns what an event replaces; `None` if it adds something, such as lines of stderr.
    pub(crate) fn of(event: &ConsoleEvent) -> Option<Self> {
        Some(match event {
            ConsoleEvent::Server { server } => Self::Server(server.name.clone()),
            ConsoleEvent::ServerRemoved { name } => Self::Server(name.clone()),
            ConsoleEvent::Catalog { .. } => Self::Catalog,
            ConsoleEvent::Call { call } => Self::Call(call.call),
            ConsoleEvent::Question { question } => Self::Question(question.question),
            ConsoleEvent::QuestionClosed { question, .. } => Self::Question(*question),
            ConsoleEvent::Task { task } => {
                Self::Task { server: task.server.clone(), task_id: task.task_id.clone() }
            }
            ConsoleEvent::Subscription { subscription } => {
                Self::Subscription { server: subscription.server.clone(), uri: subscription.uri.clone() }
            }
            ConsoleEvent::Unsubscribed { server, uri } => {
                Self::Subscription { server: server.clone(), uri: uri.clone() }
            }
            ConsoleEvent::LoginAttempt { attempt } => Self::LoginAttempt(attempt.server.clone()),
            ConsoleEvent::LoginsChanged => Self::Logins,
            ConsoleEvent::GatewayChanged => Self::Gateway,
            ConsoleEvent::Gap { .. }
            | ConsoleEvent::Stderr { .. }
            | ConsoleEvent::Latency { .. }
            | ConsoleEvent::DoctorStep { .. }
            | ConsoleEvent::DoctorDone { .. }
            | ConsoleEvent::Frames { .. }
            | ConsoleEvent::TrafficCleared { .. }
            | ConsoleEvent::Denial { .. } => return None,
        })
    }
}
