//! A change of a server's lists, resources or tasks, and the notification that announces it.

use switchboard_protocol::{DetailedTask, Raw};

/// A change that a server announces to its clients.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ServerChange {
    Tools,
    Prompts,
    Resources,
    /// An update of a resource, for the subscribers of a scope or for all.
    Resource {
        uri: String,
        scope: Option<String>,
    },
    /// Boxed, because it is far larger than the others.
    Task(Box<DetailedTask>),
    /// A notification for one session of the legacy era.
    Notification {
        owner: String,
        method: &'static str,
        params: Raw,
    },
}

impl ServerChange {
    /// Returns the method of the notification.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Resource { .. } => "notifications/resources/updated",
            Self::Task(_) => "notifications/tasks",
            Self::Notification { method, .. } => method,
        }
    }
}
