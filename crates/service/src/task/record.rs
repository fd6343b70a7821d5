//! The stored state of a task.

use serde::{Deserialize, Serialize};
use switchboard_protocol::{DetailedTask, Raw, RpcError, TaskStatus};

/// Estimated size of a task besides its payloads.
const OVERHEAD: usize = 512;

/// The stored state of a task. Serializable, so that a store can persist it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskRecord {
    /// The owner, who alone may access the task. `None`: anyone who knows the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The client whose limits the task counts against: an authenticated principal, or else an address. `None` if
    /// neither is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// Status, and result or error.
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

    /// Returns the approximate size in bytes.
    pub(super) fn size(&self) -> usize {
        let DetailedTask { task, result, error, input_requests, .. } = &self.task;
        let error =
            error.as_ref().map_or(0, |error| error.message.len() + error.data.as_ref().map_or(0, Raw::len));
        let requests = input_requests.as_ref().and_then(|requests| Raw::encode(requests).ok());
        let own = OVERHEAD + task.task_id.len() + task.status_message.as_ref().map_or(0, String::len);
        own + result.as_ref().map_or(0, Raw::len) + error + requests.as_ref().map_or(0, Raw::len)
    }

    /// Drops a result that is larger than `limit` bytes. A finished task fails.
    pub(super) fn drop_result(&mut self, limit: usize) {
        let message = format!("the result exceeds the limit of {limit} bytes for stored tasks");
        self.task.result = None;
        self.task.input_requests = None;
        if self.is_finished() {
            self.task.task.status = TaskStatus::Failed;
            self.task.task.status_message = Some(message.clone());
            self.task.error = Some(RpcError::internal(message));
        }
    }

    /// Returns the task id.
    pub fn id(&self) -> &str {
        &self.task.task.task_id
    }

    /// Returns whether the task is in a terminal status.
    pub fn is_finished(&self) -> bool {
        self.task.task.status.is_terminal()
    }
}
