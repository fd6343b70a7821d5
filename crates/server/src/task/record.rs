//! What is kept of a task.

use serde::{Deserialize, Serialize};
use switchboard_protocol::DetailedTask;

/// What is kept of a task: where it stands and what came of it. It can be written down and read again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskRecord {
    /// Whose it is: nobody else may see it. `None`: whoever knows its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Where it stands, and what came of it.
    pub task: DetailedTask,
}

impl TaskRecord {
    pub(super) fn new(owner: Option<String>, task: DetailedTask) -> Self {
        Self { owner, task }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.task.task.task_id
    }

    /// Whether nothing more will happen to it.
    pub fn is_over(&self) -> bool {
        self.task.task.status.is_terminal()
    }
}
