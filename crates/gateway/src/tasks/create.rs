//! Creation: whether a call may become a task, and the task as the client sees it.

use std::sync::Arc;
use std::time::Duration;

use switchboard_host::SessionScope;
use switchboard_protocol::surface::TASKS_EXTENSION;
use switchboard_protocol::{
    CreateTaskResult, FromRaw, LegacyCreateTaskResult, Meta, ResultType, RpcError, ServerResult, Task,
    TaskParams, TaskSupport,
};
use switchboard_session::TaskProtocol;
use switchboard_session::server::RequestContext;
use tokio::time::Instant;

use super::task_handle::{TaskHandle, TaskOrigin};
use super::task_session::keep_session;
use crate::active_calls::CallOwner;
use crate::capabilities::TaskOffer;
use crate::error::from_host;
use crate::exchange::UpstreamResult;
use crate::meta::relayed;
use crate::owned_tasks::OwnedTask;
use crate::relay::upstream_info;
use crate::view_state::ViewState;

/// How long a task is listed and announced, at most.
const LISTED: Duration = Duration::from_secs(24 * 60 * 60);

/// How a call may become a task.
#[derive(Clone, Debug)]
pub(crate) struct TaskPlan {
    /// Asks a server with core tasks for one.
    pub(crate) task: Option<TaskParams>,
    /// Tells a server with the extension that it may create one.
    pub(crate) offer: TaskOffer,
    /// The session in which it is created; `None` for the main one.
    scope: Option<SessionScope>,
}

impl TaskPlan {
    /// The call is answered with its result.
    const DIRECT: Self = Self { task: None, offer: TaskOffer::None, scope: None };
}

/// Decides whether a call may become a task: if its client can take one, and its server can create one.
///
/// # Errors
/// When the client asks for a task that the server does not offer.
pub(crate) async fn plan(
    state: &ViewState,
    cx: &RequestContext,
    (server, support): (&str, Option<TaskSupport>),
    requested: Option<TaskParams>,
) -> Result<TaskPlan, RpcError> {
    let takes_tasks = match cx.task_protocol() {
        Some(TaskProtocol::Core) => requested.is_some(),
        Some(TaskProtocol::Extension) => cx.capabilities().has_extension(TASKS_EXTENSION),
        None => false,
    };
    if !takes_tasks {
        return Ok(TaskPlan::DIRECT);
    }
    let host = &state.gateway.host;
    let scope = state.gateway.sharing.scope(host, cx, server).await?;
    let info = upstream_info(host, server, scope.as_ref()).await.map_err(from_host)?;
    match (cx.task_protocol(), info.task_protocol()) {
        (Some(TaskProtocol::Core), Some(TaskProtocol::Core)) => {
            Ok(TaskPlan { task: requested, scope, ..TaskPlan::DIRECT })
        }
        (Some(TaskProtocol::Core), _) => {
            let mut error = RpcError::method_not_found("tools/call");
            error.message = "this tool does not run as a task: call it without `task`".to_owned();
            Err(error)
        }
        (_, Some(TaskProtocol::Extension)) => Ok(TaskPlan { task: None, offer: TaskOffer::Accepted, scope }),
        (_, Some(TaskProtocol::Core))
            if matches!(support, Some(TaskSupport::Optional | TaskSupport::Required)) =>
        {
            Ok(TaskPlan { task: Some(TaskParams::new()), scope, ..TaskPlan::DIRECT })
        }
        _ => Ok(TaskPlan::DIRECT),
    }
}

/// Returns the task that a server has created for a call, with an id of the gateway; `None` if the result is final.
///
/// # Errors
/// When the client cannot take a task.
pub(crate) fn created(
    state: &ViewState,
    cx: &RequestContext,
    (server, tool): (&Arc<str>, &str),
    plan: &TaskPlan,
    result: &UpstreamResult,
) -> Result<Option<ServerResult>, RpcError> {
    let UpstreamResult { raw, session, .. } = result;
    let invalid = |error| RpcError::internal(format!("the server's task is not valid: {error}"));
    let (mut task, meta, protocol) = if ResultType::of(raw) == ResultType::Task {
        if plan.offer == TaskOffer::None {
            return Err(RpcError::internal("the server created a task that its caller cannot take"));
        }
        let CreateTaskResult { task, meta, .. } = CreateTaskResult::from_raw(raw).map_err(invalid)?;
        (task, meta, TaskProtocol::Extension)
    } else if plan.task.is_some() && raw.field_texts().any(|(name, _)| name.as_str() == "task") {
        let LegacyCreateTaskResult { task, meta, .. } =
            LegacyCreateTaskResult::from_raw(raw).map_err(invalid)?;
        (Task::from(task), meta, TaskProtocol::Core)
    } else {
        return Ok(None);
    };
    let key = plan.scope.as_ref().map(|scope| scope.key);
    let session = session.ok_or_else(|| RpcError::internal("the session of the task is not known"))?;
    let origin = TaskOrigin { server, tool, protocol, key, session, replica: &state.gateway.options.replica };
    task.task_id = expose(state, cx, &origin, &task)?;
    let mut result = CreateTaskResult::new(task);
    // For the model of the client, not for this hop.
    let immediate = meta.as_ref().and_then(|meta| meta.get(Meta::MODEL_IMMEDIATE_RESPONSE)).cloned();
    result.meta = relayed(meta);
    if let Some(immediate) = immediate {
        result.meta.get_or_insert_default().insert(Meta::MODEL_IMMEDIATE_RESPONSE, immediate);
    }
    Ok(Some(result.into()))
}

/// Returns the id of the gateway for a new task, and remembers the task for its owner.
fn expose(
    state: &ViewState,
    cx: &RequestContext,
    origin: &TaskOrigin<'_>,
    task: &Task,
) -> Result<String, RpcError> {
    let owner = cx.owner();
    let lifetime = task.ttl_ms.map(Duration::from_millis);
    let handle = TaskHandle::new(origin, &task.task_id, owner.clone(), lifetime);
    let exposed = handle.sign(&state.gateway.options.state_keys, state.name.as_deref())?;
    let call_session = (handle.server(), origin.key);
    let active = state.gateway.active_calls.register_task(call_session, CallOwner::of(cx));
    let expires = Instant::now() + lifetime.unwrap_or(LISTED).min(LISTED);
    state.gateway.owned_tasks.add(OwnedTask {
        exposed: exposed.as_str().into(),
        server: handle.server(),
        upstream_session: handle.session,
        upstream: task.task_id.as_str().into(),
        owner,
        session: cx.session_key(),
        view: state.name.clone(),
        expires,
        kept: keep_session(&state.gateway.host, &handle, expires),
        active: Some(Arc::new(active)),
    });
    Ok(exposed)
}
