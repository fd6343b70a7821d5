//! Tasks: requests that continue after their response. Covers the tasks extension (2026-07-28) and the core tasks of
//! 2025-11-25.
//!
//! The two are not wire compatible; types of 2025-11-25 have the prefix `Legacy`.

use switchboard_json::Raw;

use crate::jsonrpc::RpcError;
use crate::types::input::{InputRequests, InputResponses};
use crate::types::meta::Meta;
use crate::wire::{string_enum, wire};

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    /// Running.
    Working,
    /// Waiting for input.
    InputRequired,
    /// Completed; the result is available.
    Completed,
    /// Failed.
    Failed,
    /// Cancelled.
    Cancelled,
}

string_enum!(TaskStatus:
    Working "working",
    InputRequired "input_required",
    Completed "completed",
    Failed "failed",
    Cancelled "cancelled",
);

impl TaskStatus {
    /// Returns whether the task has ended.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// A task of the extension.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Task {
    /// The task id.
    pub task_id: String,
    /// The status.
    pub status: TaskStatus,
    /// The status in words.
    pub status_message: Option<String>,
    /// The creation time (ISO 8601).
    pub created_at: String,
    /// The time of the last change (ISO 8601).
    pub last_updated_at: String,
    /// How long the task is kept after its creation, in milliseconds; `None` means without limit.
    pub ttl_ms: Option<u64>,
    /// The recommended polling interval, in milliseconds.
    pub poll_interval_ms: Option<u64>,
}

wire!(Task:
    required task_id "taskId";
    required status "status", with_status(TaskStatus);
    optional status_message "statusMessage", with_status_message(String);
    required created_at "createdAt";
    required last_updated_at "lastUpdatedAt", with_last_updated_at(String);
    nullable ttl_ms "ttlMs", with_ttl_ms(u64);
    optional poll_interval_ms "pollIntervalMs", with_poll_interval_ms(u64);
);

impl Task {
    /// Creates a working task.
    pub fn new(task_id: impl Into<String>, created_at: impl Into<String>) -> Self {
        let created_at = created_at.into();
        Self {
            task_id: task_id.into(),
            status: TaskStatus::Working,
            status_message: None,
            last_updated_at: created_at.clone(),
            created_at,
            ttl_ms: None,
            poll_interval_ms: None,
        }
    }
}

/// The result of a tool call that continues as a task (extension).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreateTaskResult {
    result_type: TaskTag,
    /// The task.
    pub task: Task,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(CreateTaskResult:
    or_default result_type "resultType";
    flatten task "";
    optional meta "_meta", with_meta(Meta);
);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum TaskTag {
    #[default]
    Task,
}

string_enum!(TaskTag: Task "task");

impl CreateTaskResult {
    /// Creates the value for a task.
    pub fn new(task: Task) -> Self {
        Self { result_type: TaskTag::Task, task, meta: None }
    }
}

/// A task with the data of its status (extension): the result of `tasks/get` and the body of `notifications/tasks`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DetailedTask {
    /// The task.
    pub task: Task,
    /// The input requests, if the task waits for input.
    pub input_requests: Option<InputRequests>,
    /// The result of the call, if completed.
    pub result: Option<Raw>,
    /// The error of the call, if failed.
    pub error: Option<RpcError>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(DetailedTask:
    flatten task "";
    optional input_requests "inputRequests", with_input_requests(InputRequests);
    optional result "result", with_result(Raw);
    optional error "error", with_error(RpcError);
    optional meta "_meta", with_meta(Meta);
);

impl DetailedTask {
    /// Creates a task without further data.
    pub fn new(task: Task) -> Self {
        Self { task, input_requests: None, result: None, error: None, meta: None }
    }
}

/// The parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskIdParams {
    /// The task id.
    pub task_id: String,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(TaskIdParams: required task_id "taskId"; optional meta "_meta", with_meta(Meta););

impl TaskIdParams {
    /// Creates the value for a task.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self { task_id: task_id.into(), meta: None }
    }
}

/// The parameters of `tasks/update`: responses for a task that waits for input (extension).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpdateTaskParams {
    /// The task.
    pub task_id: String,
    /// The responses, or some of them.
    pub input_responses: InputResponses,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(UpdateTaskParams:
    required task_id "taskId";
    required input_responses "inputResponses";
    optional meta "_meta", with_meta(Meta);
);

impl UpdateTaskParams {
    /// Creates the parameters.
    pub fn new(task_id: impl Into<String>, responses: InputResponses) -> Self {
        Self { task_id: task_id.into(), input_responses: responses, meta: None }
    }
}

/// Parameters that request execution as a task (2025-11-25 only).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskParams {
    /// How long to keep the task, in milliseconds.
    pub ttl: Option<u64>,
}

wire!(TaskParams: optional ttl "ttl", with_ttl(u64););

impl TaskParams {
    /// Creates parameters without a time to live: the receiver chooses.
    pub fn new() -> Self {
        Self::default()
    }
}

/// A task of 2025-11-25.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LegacyTask {
    /// The task id.
    pub task_id: String,
    /// The status.
    pub status: TaskStatus,
    /// The status in words.
    pub status_message: Option<String>,
    /// The creation time (ISO 8601).
    pub created_at: String,
    /// The time of the last change (ISO 8601).
    pub last_updated_at: String,
    /// How long the task is kept after its creation, in milliseconds; `None` means without limit.
    pub ttl: Option<u64>,
    /// The recommended polling interval, in milliseconds.
    pub poll_interval: Option<u64>,
}

wire!(LegacyTask:
    required task_id "taskId";
    required status "status";
    optional status_message "statusMessage";
    required created_at "createdAt";
    required last_updated_at "lastUpdatedAt";
    nullable ttl "ttl";
    optional poll_interval "pollInterval";
);

impl From<Task> for LegacyTask {
    fn from(task: Task) -> Self {
        Self {
            task_id: task.task_id,
            status: task.status,
            status_message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            ttl: task.ttl_ms,
            poll_interval: task.poll_interval_ms,
        }
    }
}

impl From<LegacyTask> for Task {
    fn from(task: LegacyTask) -> Self {
        Self {
            task_id: task.task_id,
            status: task.status,
            status_message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            ttl_ms: task.ttl,
            poll_interval_ms: task.poll_interval,
        }
    }
}

/// The result of a request that continues as a task (2025-11-25 only).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LegacyCreateTaskResult {
    /// The task.
    pub task: LegacyTask,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(LegacyCreateTaskResult: required task "task"; optional meta "_meta", with_meta(Meta););

impl LegacyCreateTaskResult {
    /// Creates the value for a task.
    pub fn new(task: impl Into<LegacyTask>) -> Self {
        Self { task: task.into(), meta: None }
    }
}

/// A task in the results of `tasks/get` and `tasks/cancel` and in `notifications/tasks/status` (2025-11-25 only).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LegacyTaskState {
    /// The task.
    pub task: LegacyTask,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(LegacyTaskState: flatten task ""; optional meta "_meta", with_meta(Meta););

impl LegacyTaskState {
    /// Creates the value for a task.
    pub fn new(task: impl Into<LegacyTask>) -> Self {
        Self { task: task.into(), meta: None }
    }
}

/// One page of tasks (2025-11-25 only).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListTasksResult {
    /// The tasks.
    pub tasks: Vec<LegacyTask>,
    /// The cursor of the next page; `None` on the last one.
    pub next_cursor: Option<String>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ListTasksResult:
    required tasks "tasks";
    optional next_cursor "nextCursor", with_next_cursor(String);
    optional meta "_meta", with_meta(Meta);
);

impl ListTasksResult {
    /// Creates the last or only page.
    pub fn new(tasks: impl Into<Vec<LegacyTask>>) -> Self {
        Self { tasks: tasks.into(), ..Self::default() }
    }
}
