//! Requests for tasks: state, result, input, cancellation, list.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::{
    DetailedTask, EmptyResult, ErrorCode, FromRaw, InputRequests, LegacyTask, LegacyTaskState,
    ListTasksResult, Meta, OrderedMap, PageParams, Raw, RpcError, ServerResult, TaskIdParams, TaskStatus,
    ToolAnnotations, UpdateTaskParams,
};
use switchboard_session::TaskProtocol;
use switchboard_session::client::HandlerError;
use switchboard_session::server::{HandlerOutcome, Reply, RequestContext, ServerRequest};
use tokio::task::JoinSet;

use super::core_task::{RESULT_TIMEOUT, ask_upstream, detailed, id_params, question_key};
use super::task_handle::TaskHandle;
use super::task_session::{is_gone, task_session};
use crate::access::{AccessRequest, AccessRules};
use crate::error::{task_elsewhere, unknown_task};
use crate::meta::{clean_result, relayed};
use crate::owned_tasks::OwnedTask;
use crate::policy::{Target, TargetKind};
use crate::questions::relayed_question;
use crate::relay::relay;
use crate::upstream_error::task_error;
use crate::upstream_request::{UpstreamRequest, UpstreamTarget};
use crate::view_state::ViewState;

/// Tasks of one page.
const PAGE_SIZE: usize = 50;
/// How long a list waits for the states of its tasks.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);

/// A request for a task that was found.
struct TaskRequest {
    state: Arc<ViewState>,
    cx: RequestContext,
    handle: TaskHandle,
    exposed: String,
}

/// Handles a request for a task.
pub(crate) fn handle(state: Arc<ViewState>, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
    HandlerOutcome::later(async move {
        match request {
            ServerRequest::GetTask(TaskIdParams { task_id, meta, .. }) => {
                with_task(state, cx, ("tasks/get", task_id, meta), TaskRequest::get).await
            }
            ServerRequest::TaskResult(TaskIdParams { task_id, meta, .. }) => {
                with_task(state, cx, ("tasks/result", task_id, meta), TaskRequest::result).await
            }
            ServerRequest::CancelTask(TaskIdParams { task_id, meta, .. }) => {
                with_task(state, cx, ("tasks/cancel", task_id, meta), TaskRequest::cancel).await
            }
            ServerRequest::UpdateTask(UpdateTaskParams { task_id, input_responses, meta, .. }) => {
                let update = |request: TaskRequest| request.update(input_responses);
                with_task(state, cx, ("tasks/update", task_id, meta), update).await
            }
            ServerRequest::ListTasks(page) => list(&state, &cx, page).await,
            other => Err(RpcError::method_not_found(other.method())),
        }
    })
}

/// Finds the task, applies the rules of its tool, and records the request.
async fn with_task<F: Future<Output = Reply>>(
    state: Arc<ViewState>,
    cx: RequestContext,
    (method, exposed, meta): (&'static str, String, Option<Meta>),
    run: impl FnOnce(TaskRequest) -> F,
) -> Reply {
    let Some(handle) = open_task(&state, cx.owner().as_deref(), &exposed) else {
        let error = unknown_task(&exposed);
        let subject = state.subject(cx.caller());
        state.gateway.access.record_unknown(&cx, &subject, (method, &exposed), &error).await?;
        return Err(error);
    };
    let rules = state.gateway.access.rules();
    let annotations = trusted_annotations(&state, &rules, &handle);
    let access = AccessRequest {
        rules,
        subject: state.subject(cx.caller()),
        method,
        target: task_target(&handle, annotations.as_ref()),
        arguments: None,
        meta: meta.as_ref(),
        unknown: unknown_task(&exposed),
    };
    let request = TaskRequest {
        state: Arc::clone(&state),
        cx: cx.clone(),
        handle: handle.clone(),
        exposed: exposed.clone(),
    };
    let is_elsewhere = handle.is_elsewhere(&state.gateway.options.replica);
    let call = pin!(async {
        if is_elsewhere {
            return Err(task_elsewhere());
        }
        if is_gone(&state.gateway.host, &handle) {
            return Err(unknown_task(&exposed));
        }
        run(request).await
    });
    state.gateway.access.run(&cx, access, call).await
}

/// Reads the id of a task; `None` if it is not of this owner, or its tool is not in the view.
pub(super) fn open_task(state: &ViewState, owner: Option<&str>, exposed: &str) -> Option<TaskHandle> {
    let keys = &state.gateway.options.state_keys;
    let handle = TaskHandle::open(keys, state.name.as_deref(), owner, exposed)?;
    state.rules().has_tool(&handle.server, &handle.tool).then_some(handle)
}

/// Returns the target of a request for a task.
pub(super) fn task_target<'a>(
    handle: &'a TaskHandle,
    annotations: Option<&'a ToolAnnotations>,
) -> Target<'a> {
    Target { annotations, ..Target::new(&handle.server, TargetKind::Task, &handle.tool) }
}

/// Returns the annotations of the tool of a task that rules may rely on.
pub(super) fn trusted_annotations(
    state: &ViewState,
    rules: &AccessRules,
    handle: &TaskHandle,
) -> Option<ToolAnnotations> {
    let trusted = rules.trusts_annotations(&handle.server);
    state.exposed().annotations(&handle.server, &handle.tool, trusted)
}

impl TaskRequest {
    async fn ask(&self, method: &'static str) -> Result<Raw, RpcError> {
        let params = id_params(&self.handle)?;
        ask_upstream(&self.state.gateway.host, (&self.handle, &self.exposed), method, params).await
    }

    async fn get(self) -> Reply {
        match (self.cx.task_protocol(), self.handle.protocol()) {
            (Some(TaskProtocol::Core), TaskProtocol::Core) => {
                self.ask("tasks/get").await.and_then(|raw| self.core_state(&raw))
            }
            (Some(TaskProtocol::Extension), TaskProtocol::Extension) => {
                let task = exposed_task(&self.ask("tasks/get").await?, &self.handle.server, &self.exposed)?;
                self.note_status(task.task.status);
                Ok(task.into())
            }
            (Some(TaskProtocol::Extension), TaskProtocol::Core) => {
                let mut task = detailed(&self.state.gateway, (&self.handle, &self.exposed)).await?;
                self.note_status(task.task.status);
                task.input_requests = match task.input_requests {
                    Some(questions) => Some(self.answerable(questions).await),
                    None => None,
                };
                Ok(task.into())
            }
            // The task is of another protocol than the client of this request.
            _ => Err(unknown_task(&self.exposed)),
        }
    }

    /// Returns the questions that the client can answer, and refuses the others.
    async fn answerable(&self, questions: InputRequests) -> InputRequests {
        let mut kept = InputRequests::default();
        for (key, question) in questions {
            match self.cx.check_answerable(&question) {
                Ok(()) => _ = kept.insert(key, question),
                Err(error) => {
                    let (held, refusal) = (question_key(&self.handle), HandlerError::new(error.to_string()));
                    self.state.gateway.task_questions.answer(&held, &key, Err(refusal)).await;
                }
            }
        }
        kept
    }

    /// Lets go of the session of a task that is over.
    fn note_status(&self, status: TaskStatus) {
        if status.is_terminal() {
            self.state.gateway.owned_tasks.finished(&self.exposed);
        }
    }

    fn core_state(&self, raw: &Raw) -> Reply {
        let mut state = LegacyTaskState::from_raw(raw).map_err(not_a_task)?;
        self.note_status(state.task.status);
        self.exposed.clone_into(&mut state.task.task_id);
        state.meta = relayed(state.meta.take());
        Ok(state.into())
    }

    /// Waits for the result (2025-11-25). The client is asked the questions of the task meanwhile.
    async fn result(self) -> Reply {
        if self.handle.protocol() != TaskProtocol::Core {
            return Err(unknown_task(&self.exposed));
        }
        let target = UpstreamTarget::Method { method: "tasks/result", params: id_params(&self.handle)? };
        let mut request = UpstreamRequest::new(&self.handle.server(), target, None);
        request.related_task = Some(self.exposed.clone());
        request.lease = task_session(&self.state.gateway.host, &self.handle).await?;
        if request.lease.is_none() {
            return Err(unknown_task(&self.exposed));
        }
        request.timeout = Some(RESULT_TIMEOUT);
        let result = relay(Arc::clone(&self.state.gateway), self.cx.clone(), request).await;
        let result = result.map_err(|mut error| {
            error.message = error.message.replace(&self.handle.id, &self.exposed);
            error
        })?;
        relate(&clean_result(result.raw), &self.exposed).map(ServerResult::Raw)
    }

    async fn cancel(self) -> Reply {
        match (self.cx.task_protocol(), self.ask("tasks/cancel").await) {
            (Some(TaskProtocol::Core), reply) => self.core_state(&reply?),
            (_, Ok(_)) => Ok(EmptyResult::new().into()),
            // A task that is over cannot be cancelled in the core protocol; in the extension that is no error.
            (_, Err(error)) if error.code == ErrorCode::INVALID_PARAMS => {
                self.ask("tasks/get").await?;
                Ok(EmptyResult::new().into())
            }
            (_, Err(error)) => Err(error),
        }
    }

    async fn update(self, responses: switchboard_protocol::InputResponses) -> Reply {
        if self.handle.protocol() == TaskProtocol::Core {
            let key = question_key(&self.handle);
            for (question, answer) in responses.iter() {
                self.state.gateway.task_questions.answer(&key, question, Ok(answer.clone())).await;
            }
            return Ok(EmptyResult::new().into());
        }
        let params = UpdateTaskParams::new(self.handle.id.as_str(), responses);
        let params = Raw::encode(&params).map_err(|error| RpcError::internal(error.to_string()))?;
        let host = &self.state.gateway.host;
        ask_upstream(host, (&self.handle, &self.exposed), "tasks/update", params).await?;
        Ok(EmptyResult::new().into())
    }
}

/// Returns the state of a task of the extension under its exposed id.
pub(super) fn exposed_task(raw: &Raw, server: &str, exposed: &str) -> Result<DetailedTask, RpcError> {
    let mut task = DetailedTask::from_raw(raw).map_err(not_a_task)?;
    exposed.clone_into(&mut task.task.task_id);
    task.meta = relayed(task.meta.take());
    task.result = task.result.map(clean_result);
    task.error = task.error.map(|error| task_error(server, error));
    task.input_requests = task.input_requests.map(|questions| {
        questions.into_iter().map(|(key, question)| (key, relayed_question(question))).collect()
    });
    Ok(task)
}

/// Adds the id of its task to the `_meta` of a result.
fn relate(raw: &Raw, exposed: &str) -> Result<Raw, RpcError> {
    let failed = |error: &dyn std::fmt::Display| RpcError::internal(error.to_string());
    let members = raw.fields().map(|(name, value)| (name.as_str().to_owned(), value));
    let mut members: OrderedMap<Raw> = members.collect();
    let mut meta: Meta = match members.get("_meta") {
        Some(meta) => meta.decode().map_err(|error| failed(&error))?,
        None => Meta::new(),
    };
    meta.insert(Meta::RELATED_TASK, Raw::from(serde_json::json!({ "taskId": exposed })));
    members.insert("_meta", Raw::encode(&meta).map_err(|error| failed(&error))?);
    Raw::encode(&members).map_err(|error| failed(&error))
}

/// Lists the caller's own tasks (2025-11-25): those that were created through this process and that their servers still know. A
/// server that does not say so in time does not delay the list: its tasks are left out.
async fn list(state: &Arc<ViewState>, cx: &RequestContext, page: PageParams) -> Reply {
    let after = match page.cursor.as_deref() {
        None => None,
        Some(cursor) => Some(cursor.parse().map_err(|_| RpcError::invalid_params("Invalid cursor"))?),
    };
    let (owner, view) = (cx.owner(), state.name.as_deref());
    let table = &state.gateway.owned_tasks;
    let mut found = table.list((owner.as_deref(), view), after, PAGE_SIZE + 1);
    let has_more = found.len() > PAGE_SIZE;
    found.truncate(PAGE_SIZE);
    let next = found.last().filter(|_| has_more).map(|(number, _)| number.to_string());
    let rules = state.gateway.access.rules();
    let filter = rules.list_filter(state.subject(cx.caller()));
    let mut asked = JoinSet::new();
    for (at, (number, owned)) in found.into_iter().enumerate() {
        let Some(handle) = open_task(state, owner.as_deref(), &owned.exposed) else { continue };
        let annotations = trusted_annotations(state, &rules, &handle);
        let target = task_target(&handle, annotations.as_ref());
        let is_shown = filter.as_ref().is_none_or(|filter| filter.shows(&target));
        if !is_shown || handle.protocol() != TaskProtocol::Core {
            continue;
        }
        let state = Arc::clone(state);
        // Aborted with the request, and when the time is over.
        asked.spawn(async move {
            match current(&state, &handle, &owned).await {
                Ok(task) => Some((at, task)),
                Err(error) if error.code == ErrorCode::INVALID_PARAMS => {
                    state.gateway.owned_tasks.forget(number);
                    None
                }
                Err(error) => {
                    tracing::debug!(server = %owned.server, %error, "the state of a task is not known");
                    None
                }
            }
        });
    }
    let mut known = Vec::new();
    let _ = tokio::time::timeout(LIST_TIMEOUT, async {
        while let Some(task) = asked.join_next().await {
            known.extend(task.ok().flatten());
        }
    })
    .await;
    known.sort_unstable_by_key(|(at, _)| *at);
    let tasks: Vec<LegacyTask> = known.into_iter().map(|(_, task)| task).collect();
    let mut result = ListTasksResult::new(tasks);
    result.next_cursor = next;
    Ok(result.into())
}

async fn current(state: &ViewState, handle: &TaskHandle, owned: &OwnedTask) -> Result<LegacyTask, RpcError> {
    let params = id_params(handle)?;
    let raw = ask_upstream(&state.gateway.host, (handle, &owned.exposed), "tasks/get", params).await?;
    let mut task = LegacyTaskState::from_raw(&raw).map_err(not_a_task)?.task;
    if task.status.is_terminal() {
        state.gateway.owned_tasks.finished(&owned.exposed);
    }
    owned.exposed.as_ref().clone_into(&mut task.task_id);
    Ok(task)
}

fn not_a_task(error: switchboard_protocol::DecodeError) -> RpcError {
    RpcError::internal(format!("the server's task is not valid: {error}"))
}
