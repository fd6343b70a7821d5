//! A change of a server that its clients are told of, and the notification that tells of it.

use switchboard_protocol::DetailedTask;

/// What can have changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ServerChange {
    Tools,
    Prompts,
    Resources,
    Resource(String),
    /// Boxed: it is far larger than the others.
    Task(Box<DetailedTask>),
}

impl ServerChange {
    /// The notification that tells of it.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Resource(_) => "notifications/resources/updated",
            Self::Task(_) => "notifications/tasks",
        }
    }
}
