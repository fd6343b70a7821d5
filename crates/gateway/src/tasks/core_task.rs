//! Tasks of servers with the core protocol (2025-11-25), for owners that use the extension.

use std::sync::Arc;

use switchboard_host::{Host, HostError, Run, SessionLease};
use switchboard_protocol::{
    DetailedTask, FromRaw, LegacyTaskState, Raw, RpcError, Task, TaskIdParams, TaskStatus,
};
use switchboard_session::client::CallOptions;

use super::task_handle::TaskHandle;
use super::task_session::task_session;
use crate::active_calls::CallOwner;
use crate::capabilities::{TaskOffer, relayed_capabilities};
use crate::error::{from_host, unknown_task};
use crate::exchange::{Exchange, NoticeSink, UpstreamCall, UpstreamResult};
use crate::meta::clean_result;
use crate::parked::ParkedCaller;
use crate::questions::{QuestionHandler, QuestionScope};
use crate::state::GatewayState;
use crate::task_questions::TaskKey;

/// How long the result of a task is waited for.
pub(crate) const RESULT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);

/// Sends a request about a task to its server.
///
/// # Errors
/// When the session of the task has ended; the server's own error, with the exposed id in place of its own.
pub(crate) async fn ask_upstream(
    host: &Host,
    (handle, exposed): (&TaskHandle, &str),
    method: &'static str,
    params: Raw,
) -> Result<Raw, RpcError> {
    let capabilities = relayed_capabilities(&Default::default(), TaskOffer::Accepted);
    let options = CallOptions::new().capabilities(capabilities);
    let Some(lease) = task_session(host, handle).await? else { return Err(unknown_task(exposed)) };
    let sent = send(host, &lease, (handle, method, params), (options, &Run::new())).await;
    sent.map_err(|error| {
        let mut error = from_host(error);
        error.message = error.message.replace(&handle.id, exposed);
        error
    })
}

/// Sends a request in the session that a task is in.
async fn send(
    host: &Host,
    lease: &SessionLease,
    (handle, method, params): (&TaskHandle, &'static str, Raw),
    (options, run): (CallOptions, &Run),
) -> Result<Raw, HostError> {
    let request = host.request(&handle.server, method, params).options(options).within(run);
    request.in_open_session(lease).await
}

/// Returns the parameters that name a task.
pub(crate) fn id_params(handle: &TaskHandle) -> Result<Raw, RpcError> {
    Raw::encode(&TaskIdParams::new(handle.id.as_str())).map_err(|error| RpcError::internal(error.to_string()))
}

/// Returns the state of a task as the extension has it: with its questions, its result or its error.
///
/// # Errors
/// When the server does not know the task, or fails.
pub(crate) async fn detailed(
    gateway: &Arc<GatewayState>,
    (handle, exposed): (&TaskHandle, &str),
) -> Result<DetailedTask, RpcError> {
    let raw = ask_upstream(&gateway.host, (handle, exposed), "tasks/get", id_params(handle)?).await?;
    let state = LegacyTaskState::from_raw(&raw)
        .map_err(|error| RpcError::internal(format!("the server's task is not valid: {error}")))?;
    let mut detailed = DetailedTask::new(Task::from(state.task));
    detailed.task.task_id = exposed.to_owned();
    match detailed.task.status {
        TaskStatus::InputRequired => {
            detailed.input_requests = Some(questions(gateway, handle, exposed).await?);
        }
        // A tool that failed is "failed" here, and "completed" with a result that says so in the extension.
        TaskStatus::Completed | TaskStatus::Failed => {
            let result =
                ask_upstream(&gateway.host, (handle, exposed), "tasks/result", id_params(handle)?).await;
            match result {
                Ok(result) => {
                    detailed.task.status = TaskStatus::Completed;
                    detailed.result = Some(clean_result(result));
                }
                Err(error) => {
                    detailed.task.status = TaskStatus::Failed;
                    detailed.error = Some(error);
                }
            }
        }
        _ => {}
    }
    Ok(detailed)
}

/// Returns the key under which the questions of a task are held.
pub(crate) fn question_key(handle: &TaskHandle) -> TaskKey {
    (handle.server(), handle.session, handle.id.clone())
}

/// Returns the open questions of a task; asks its server for them if that is not under way.
async fn questions(
    gateway: &Arc<GatewayState>,
    handle: &TaskHandle,
    exposed: &str,
) -> Result<switchboard_protocol::InputRequests, RpcError> {
    let key = question_key(handle);
    if let Some(questions) = gateway.task_questions.get(&key).await {
        return Ok(questions);
    }
    let Some(lease) = task_session(&gateway.host, handle).await? else { return Err(unknown_task(exposed)) };
    let permit = gateway.parked.reserve(ParkedCaller::of_owner(handle.owner.as_deref()), &key.0)?;
    let owner = CallOwner::of_task(handle.owner.clone());
    let scope = QuestionScope {
        calls: Arc::clone(&gateway.active_calls),
        session: (handle.server(), handle.key()),
        owner,
        task: Some(handle.id.clone()),
    };
    let (handler, received) = QuestionHandler::new(scope);
    let run = Run::with_handler(handler);
    let run_there = run.clone();
    let (host, handle_there, params) = (gateway.host.clone(), handle.clone(), id_params(handle)?);
    let exposed = exposed.to_owned();
    let call: UpstreamCall = Box::pin(async move {
        let options = CallOptions::new().timeout(RESULT_TIMEOUT);
        let request = (&handle_there, "tasks/result", params);
        let sent = send(&host, &lease, request, (options, &run_there)).await;
        if let Err(error) = &sent {
            let server = &handle_there.server;
            tracing::debug!(%server, task = %exposed, %error, "the result of a task was not delivered");
        }
        let revision = switchboard_protocol::Revision::LATEST;
        Ok(UpstreamResult { raw: sent.map_err(from_host)?, revision, session: run_there.last_session() })
    });
    let replica = &gateway.options.replica;
    let notices = Arc::new(NoticeSink::new(None));
    let exchange = Exchange::new((handle.server(), run), call, received, notices).with_id(replica, None)?;
    gateway.task_questions.hold(key.clone(), exchange, (permit, gateway.options.parked.lifetime));
    Ok(gateway.task_questions.get(&key).await.unwrap_or_default())
}
