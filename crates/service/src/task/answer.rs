//! What is asked about tasks: how one is doing, its result, input for it, its end.

use std::sync::Arc;

use serde::Deserialize;
use switchboard_protocol::{
    CallToolResult, EmptyResult, InputRequest, LegacyTask, ListTasksResult, Meta, OrderedMap, PageParams,
    Raw, RpcError, TaskStatus, UpdateTaskParams,
};
use switchboard_session::server::{
    AskError, HandlerOutcome, Reply, RequestContext, ServerRequest, TaskProtocol,
};

use super::job::{Job, Taken};
use super::{TaskRecord, Tasks};

/// Tasks on one page of a list.
const PAGE: usize = 100;

/// What is known of a task: more while it runs here.
enum Found {
    Here(Arc<Job>),
    Kept(Box<TaskRecord>),
}

impl Found {
    fn record(&self) -> TaskRecord {
        match self {
            Self::Here(job) => job.record(),
            Self::Kept(record) => (**record).clone(),
        }
    }
}

impl Tasks {
    /// Answers a request about tasks. Which of them a revision has, the session has seen to.
    pub fn answer(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
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

    /// A task of whoever asks. One of another is as if it were not there.
    async fn find(&self, id: &str, cx: &RequestContext) -> Result<Found, RpcError> {
        let owner = cx.owner();
        let found = match self.running(id) {
            Some(job) => Some(Found::Here(job)),
            None => self.inner.store.load(id).await.map(|record| Found::Kept(Box::new(record))),
        };
        let owner_of = |found: &Found| match found {
            Found::Here(job) => job.owner.clone(),
            Found::Kept(record) => record.owner.clone(),
        };
        found
            .filter(|found| owner_of(found) == owner)
            .ok_or_else(|| RpcError::invalid_params(format!("Unknown task: {id}")))
    }

    async fn cancel(&self, id: &str, cx: &RequestContext) -> Reply {
        let found = self.find(id, cx).await?;
        let was_over = match &found {
            Found::Here(job) => job.cancel(),
            // Where it runs, if it does, is not known here.
            Found::Kept(record) => record.is_over(),
        };
        match cx.task_protocol() {
            Some(TaskProtocol::Core) if was_over => {
                Err(RpcError::invalid_params("Cannot cancel: the task is over already"))
            }
            Some(TaskProtocol::Core) => Ok(found.record().task.into()),
            _ => Ok(EmptyResult::default().into()),
        }
    }

    async fn update(&self, params: UpdateTaskParams, cx: &RequestContext) -> Reply {
        if let Found::Here(job) = self.find(&params.task_id, cx).await? {
            for (key, answer) in params.input_responses.iter() {
                job.answer(key, Ok(answer.clone()));
            }
        }
        Ok(EmptyResult::default().into())
    }

    async fn list(&self, page: PageParams, cx: &RequestContext) -> Reply {
        let owner = cx.owner();
        let store = &self.inner.store;
        let listed = store.list(owner.as_deref(), page.cursor.as_deref(), PAGE + 1).await;
        let mut listed = listed.ok_or_else(|| RpcError::invalid_params("Invalid cursor"))?;
        let has_more = listed.len() > PAGE;
        listed.truncate(PAGE);
        let next = listed.last().filter(|_| has_more).map(|record| record.id().to_owned());
        // What runs here may have changed since it was kept.
        let newest = |record: TaskRecord| match self.running(record.id()) {
            Some(job) => job.record(),
            None => record,
        };
        let tasks = listed.into_iter().map(newest).map(|record| legacy(&record)).collect::<Vec<_>>();
        let mut result = ListTasksResult::new(tasks);
        result.next_cursor = next;
        Ok(result.into())
    }

    /// What a task came to, when it does (2025-11-25). What it asks meanwhile is asked here.
    async fn result(&self, id: &str, cx: &RequestContext) -> Reply {
        let record = match self.find(id, cx).await? {
            Found::Here(job) => follow(&job, id, cx).await?,
            Found::Kept(record) => *record,
        };
        let task = record.task;
        match (task.task.status, task.result, task.error) {
            (TaskStatus::Completed, Some(result), _) => {
                let mut result: CallToolResult =
                    result.decode().map_err(|error| RpcError::internal(error.to_string()))?;
                result.meta.get_or_insert_default().insert(Meta::RELATED_TASK, related(id));
                Ok(result.into())
            }
            (TaskStatus::Failed, _, Some(error)) => Err(error),
            (TaskStatus::Cancelled, ..) => Err(RpcError::internal("the task was cancelled")),
            _ => Err(RpcError::internal("the task runs elsewhere: ask again when it is over")),
        }
    }
}

/// Follows a job to its end, and puts its questions to the client meanwhile.
async fn follow(job: &Arc<Job>, id: &str, cx: &RequestContext) -> Result<TaskRecord, RpcError> {
    let mut changes = job.changes();
    loop {
        let record = job.record();
        if record.is_over() {
            return Ok(record);
        }
        match job.take_question() {
            Some(question) => put(question, id, cx).await?,
            // Ends when the job does: it counts that too.
            None => _ = changes.changed().await,
        }
    }
}

/// Puts a question to the client. When it cannot be reached, the question stays open for the next who follows the task.
async fn put(question: Taken, id: &str, cx: &RequestContext) -> Result<(), RpcError> {
    let params = with_task(&question.request, id)?;
    match cx.request(question.request.method(), &params).await {
        Err(error @ (AskError::Gone | AskError::TimedOut)) => Err(RpcError::internal(error.to_string())),
        answer => {
            question.answered(answer);
            Ok(())
        }
    }
}

/// The parameters of a question, which say whose it is.
fn with_task(request: &InputRequest, id: &str) -> Result<Raw, RpcError> {
    #[derive(Deserialize)]
    struct Outer {
        #[serde(default)]
        params: OrderedMap<Raw>,
    }
    let failed = |error: &dyn std::fmt::Display| RpcError::internal(error.to_string());
    let text = Raw::encode(request).map_err(|error| failed(&error))?;
    let Outer { mut params } = text.decode().map_err(|error| failed(&error))?;
    let mut meta: Meta = match params.get("_meta") {
        Some(meta) => meta.decode().map_err(|error| failed(&error))?,
        None => Meta::new(),
    };
    meta.insert(Meta::RELATED_TASK, related(id));
    params.insert("_meta", Raw::encode(&meta).map_err(|error| failed(&error))?);
    Raw::encode(&params).map_err(|error| failed(&error))
}

fn related(id: &str) -> Raw {
    serde_json::json!({ "taskId": id }).into()
}

/// A task as 2025-11-25 tells it: there a result that says it is an error is a failure.
fn legacy(record: &TaskRecord) -> LegacyTask {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Failed {
        #[serde(default)]
        is_error: bool,
    }
    let mut task = LegacyTask::from(record.task.task.clone());
    let says_error = |result: &Raw| result.decode::<Failed>().is_ok_and(|failed| failed.is_error);
    if record.task.result.as_ref().is_some_and(says_error) {
        task.status = TaskStatus::Failed;
    }
    task
}
