//! Handles the requests of the task protocols: status, result, input, cancellation, list.

use std::sync::Arc;

use serde::Deserialize;
use switchboard_protocol::{
    CallToolResult, EmptyResult, InputRequest, LegacyTask, ListTasksResult, Meta, OrderedMap, PageParams,
    Raw, RpcError, TaskStatus, UpdateTaskParams,
};
use switchboard_session::server::{
    AskError, HandlerOutcome, Reply, RequestContext, ServerRequest, TaskProtocol,
};

use super::job::{ClaimedQuestion, Job};
use super::{TaskRecord, Tasks};

/// Page size of `tasks/list`.
const PAGE_SIZE: usize = 100;

/// A task found by its id.
enum TaskLookup {
    Running(Arc<Job>),
    Stored(Box<TaskRecord>),
}

impl TaskLookup {
    fn record(&self) -> TaskRecord {
        match self {
            Self::Running(job) => job.record(),
            Self::Stored(record) => (**record).clone(),
        }
    }
}

impl Tasks {
    /// Handles a task request. The session has already rejected methods that the revision does not have.
    pub fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let tasks = self.clone();
        match request {
            ServerRequest::GetTask(params) => HandlerOutcome::later(async move {
                Ok(tasks.find(&params.task_id, &cx).await?.record().task.into())
            }),
            ServerRequest::TaskResult(params) => {
                HandlerOutcome::later(async move { tasks.result(&params.task_id, &cx).await })
            }
            ServerRequest::CancelTask(params) => {
                HandlerOutcome::later(async move { tasks.cancel(&params.task_id, &cx).await })
            }
            ServerRequest::ListTasks(page) => {
                HandlerOutcome::later(async move { tasks.list(page, &cx).await })
            }
            ServerRequest::UpdateTask(params) => {
                HandlerOutcome::later(async move { tasks.update(params, &cx).await })
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }

    /// Finds a task of the requester. A task of another owner is reported as unknown.
    async fn find(&self, id: &str, cx: &RequestContext) -> Result<TaskLookup, RpcError> {
        let owner = cx.owner();
        let task = match self.find_running(id) {
            Some(job) => Some(TaskLookup::Running(job)),
            None => self.inner.store.load(id).await.map(|record| TaskLookup::Stored(Box::new(record))),
        };
        let owner_of = |task: &TaskLookup| match task {
            TaskLookup::Running(job) => job.owner.clone(),
            TaskLookup::Stored(record) => record.owner.clone(),
        };
        task.filter(|task| owner_of(task) == owner)
            .ok_or_else(|| RpcError::invalid_params(format!("Unknown task: {id}")))
    }

    async fn cancel(&self, id: &str, cx: &RequestContext) -> Reply {
        let task = self.find(id, cx).await?;
        let was_finished = match &task {
            TaskLookup::Running(job) => job.cancel(),
            // It may run in another instance.
            TaskLookup::Stored(record) => record.is_finished(),
        };
        match cx.task_protocol() {
            Some(TaskProtocol::Core) if was_finished => {
                Err(RpcError::invalid_params("Cannot cancel: the task has already finished"))
            }
            Some(TaskProtocol::Core) => Ok(task.record().task.into()),
            _ => Ok(EmptyResult::default().into()),
        }
    }

    async fn update(&self, params: UpdateTaskParams, cx: &RequestContext) -> Reply {
        if let TaskLookup::Running(job) = self.find(&params.task_id, cx).await? {
            for (key, answer) in params.input_responses.iter() {
                job.answer(key, Ok(answer.clone()));
            }
        }
        Ok(EmptyResult::default().into())
    }

    async fn list(&self, page: PageParams, cx: &RequestContext) -> Reply {
        let owner = cx.owner();
        let store = &self.inner.store;
        let listed = store.list(owner.as_deref(), page.cursor.as_deref(), PAGE_SIZE + 1).await;
        let mut listed = listed.ok_or_else(|| RpcError::invalid_params("Invalid cursor"))?;
        let has_more = listed.len() > PAGE_SIZE;
        listed.truncate(PAGE_SIZE);
        let next = listed.last().filter(|_| has_more).map(|record| record.id().to_owned());
        // A task that runs here may have changed since it was stored.
        let newest = |record: TaskRecord| match self.find_running(record.id()) {
            Some(job) => job.record(),
            None => record,
        };
        let tasks = listed.into_iter().map(newest).map(|record| to_legacy(&record)).collect::<Vec<_>>();
        let mut result = ListTasksResult::new(tasks);
        result.next_cursor = next;
        Ok(result.into())
    }

    /// Waits for the result of a task (2025-11-25). Input requests of the task are sent on this request meanwhile.
    async fn result(&self, id: &str, cx: &RequestContext) -> Reply {
        let record = match self.find(id, cx).await? {
            TaskLookup::Running(job) => follow(&job, id, cx).await?,
            TaskLookup::Stored(record) => *record,
        };
        let task = record.task;
        match (task.task.status, task.result, task.error) {
            (TaskStatus::Completed, Some(result), _) => {
                let mut result: CallToolResult =
                    result.decode().map_err(|error| RpcError::internal(error.to_string()))?;
                result.meta.get_or_insert_default().insert(Meta::RELATED_TASK, related_task(id));
                Ok(result.into())
            }
            (TaskStatus::Failed, _, Some(error)) => Err(error),
            (TaskStatus::Cancelled, ..) => Err(RpcError::internal("the task was cancelled")),
            _ => Err(RpcError::internal(
                "the task runs in another instance: request the result again after it has finished",
            )),
        }
    }
}

/// Waits until a job finishes, and sends its input requests to the client meanwhile.
async fn follow(job: &Arc<Job>, id: &str, cx: &RequestContext) -> Result<TaskRecord, RpcError> {
    let mut changes = job.changes();
    loop {
        let record = job.record();
        if record.is_finished() {
            return Ok(record);
        }
        match job.claim_question() {
            Some(question) => send_question(question, id, cx).await?,
            // Also wakes when the job ends, which counts as a change.
            None => _ = changes.changed().await,
        }
    }
}

/// Sends an input request to the client. If the client cannot be reached, the request stays open for the next
/// follower.
async fn send_question(question: ClaimedQuestion, id: &str, cx: &RequestContext) -> Result<(), RpcError> {
    let params = with_task(&question.request, id)?;
    match cx.request(question.request.method(), &params).await {
        Err(error @ (AskError::Gone | AskError::TimedOut)) => Err(RpcError::internal(error.to_string())),
        answer => {
            question.resolve(answer);
            Ok(())
        }
    }
}

/// Returns the parameters of an input request with the id of its task in `_meta`.
fn with_task(request: &InputRequest, id: &str) -> Result<Raw, RpcError> {
    #[derive(Deserialize)]
    struct RequestParams {
        #[serde(default)]
        params: OrderedMap<Raw>,
    }
    let failed = |error: &dyn std::fmt::Display| RpcError::internal(error.to_string());
    let text = Raw::encode(request).map_err(|error| failed(&error))?;
    let RequestParams { mut params } = text.decode().map_err(|error| failed(&error))?;
    let mut meta: Meta = match params.get("_meta") {
        Some(meta) => meta.decode().map_err(|error| failed(&error))?,
        None => Meta::new(),
    };
    meta.insert(Meta::RELATED_TASK, related_task(id));
    params.insert("_meta", Raw::encode(&meta).map_err(|error| failed(&error))?);
    Raw::encode(&params).map_err(|error| failed(&error))
}

fn related_task(id: &str) -> Raw {
    serde_json::json!({ "taskId": id }).into()
}

/// Converts a task to its 2025-11-25 form, in which a result with `isError` is a failure.
fn to_legacy(record: &TaskRecord) -> LegacyTask {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ResultFlags {
        #[serde(default)]
        is_error: bool,
    }
    let mut task = LegacyTask::from(record.task.task.clone());
    let has_error = |result: &Raw| result.decode::<ResultFlags>().is_ok_and(|failed| failed.is_error);
    if record.task.result.as_ref().is_some_and(has_error) {
        task.status = TaskStatus::Failed;
    }
    task
}
