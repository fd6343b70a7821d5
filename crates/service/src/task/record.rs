//! What is kept of a task.

use serde::{Deserialize, Serialize};
use switchboard_protocol::{DetailedTask, Raw, RpcError, TaskStatus};

/// What a task takes besides what its caller said and got.
const OVERHEAD: usize = 512;

/// What is kept of a task: where it stands and what came of it. It can be written down and read again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskRecord {
    /// Whose it is: nobody else may see it. `None`: whoever knows its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Whom it is counted against: an authenticated principal, or else an address. `None` where neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Where it stands, and what came of it.
    pub task: DetailedTask,
}

impl TaskRecord {
    pub(super) fn new(owner: Option<String>, task: DetailedTask) -> Self {
        Self { owner, client: None, task }
    }

    pub(super) fn with_client(mut self, client: Option<String>) -> Self {
        self.client = client;
        self
    }

    /// About how many bytes it takes to keep it.
    pub(super) fn size(&self) -> usize {
        let DetailedTask { task, result, error, input_requests, .. } = &self.task;
        let error =
            error.as_ref().map_or(0, |error| error.message.len() + error.data.as_ref().map_or(0, Raw::len));
        let requests = input_requests.as_ref().and_then(|requests| Raw::encode(requests).ok());
        let own = OVERHEAD + task.task_id.len() + task.status_message.as_ref().map_or(0, String::len);
        own + result.as_ref().map_or(0, Raw::len) + error + requests.as_ref().map_or(0, Raw::len)
    }

    /// Drops what came of it, which is larger than `most` bytes.
    pub(super) fn drop_result(&mut self, most: usize) {
        let message = format!("the result is larger than the {most} bytes that are kept of tasks");
        self.task.result = None;
        self.task.input_requests = None;
        if self.is_over() {
            self.task.task.status = TaskStatus::Failed;
            self.task.task.status_message = Some(message.clone());
            self.task.error = Some(RpcError::internal(message));
        }
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
