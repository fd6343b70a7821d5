//! The session that a task is in. It is never opened for a task: a session that has ended took its tasks along.

use std::time::Duration;

use switchboard_host::{Host, SessionLease};
use switchboard_protocol::{RpcError, Task, TaskStatus};
use switchboard_session::TaskProtocol;
use tokio::time::Instant;

use super::core_task::{ask_upstream, id_params};
use super::task_handle::TaskHandle;
use crate::error::from_host;
use crate::owned_tasks::KeptSession;

/// How often a task that keeps its session open is looked at.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);

/// Returns whether the server keeps the task when its session ends: a modern server that is not a child process.
fn outlives_session(host: &Host, handle: &TaskHandle) -> bool {
    handle.protocol() == TaskProtocol::Extension && !host.is_child_process(&handle.server)
}

/// Returns the open session that a task is in.
pub(super) fn open_session(host: &Host, handle: &TaskHandle) -> Option<SessionLease> {
    let number = (!outlives_session(host, handle)).then_some(handle.session);
    host.lease(&handle.server, handle.key(), number)
}

/// Returns whether a task has ended with its session.
pub(super) fn is_gone(host: &Host, handle: &TaskHandle) -> bool {
    let may_reopen = handle.key().is_none() && outlives_session(host, handle);
    !may_reopen && open_session(host, handle).is_none()
}

/// Returns the session for a request about a task; `None` if it has ended with its session. The main session with a server that
/// keeps its tasks is waited for.
///
/// # Errors
/// When that server is not ready.
pub(super) async fn task_session(host: &Host, handle: &TaskHandle) -> Result<Option<SessionLease>, RpcError> {
    if let Some(lease) = open_session(host, handle) {
        return Ok(Some(lease));
    }
    if is_gone(host, handle) {
        return Ok(None);
    }
    host.open_lease(&handle.server, None).await.map(Some).map_err(from_host)
}

/// Keeps the session of a new task from being stopped as idle, until the task is over or this time has come.
pub(super) fn keep_session(host: &Host, handle: &TaskHandle, until: Instant) -> Option<KeptSession> {
    let lease = open_session(host, handle)?;
    let (host, handle) = (host.clone(), handle.clone());
    // Ends by itself; aborted when the task is known to be over, and with the gateway.
    let keeping = tokio::spawn(async move {
        let _lease = lease;
        let _ = tokio::time::timeout_at(until, wait_until_over(&host, &handle)).await;
    });
    Some(KeptSession::new(keeping.abort_handle()))
}

async fn wait_until_over(host: &Host, handle: &TaskHandle) {
    loop {
        tokio::time::sleep(LOOK_INTERVAL).await;
        // Not reopened for this.
        if open_session(host, handle).is_none() {
            return;
        }
        let Ok(params) = id_params(handle) else { return };
        let is_over = match ask_upstream(host, (handle, &handle.id), "tasks/get", params).await {
            Ok(raw) => raw.decode::<StatusOnly>().is_ok_and(|task| task.status.is_terminal()),
            Err(error) => error.code == switchboard_protocol::ErrorCode::INVALID_PARAMS,
        };
        if is_over {
            return;
        }
    }
}

/// The status of a task, in either protocol.
#[derive(serde::Deserialize)]
struct StatusOnly {
    status: TaskStatus,
}

/// Returns the last state that a follower publishes of a task that was lost.
pub(super) fn lost(mut task: Task) -> switchboard_protocol::DetailedTask {
    const TEXT: &str = "the server of this task does not know it any more, or the session with it has ended";
    task.status = TaskStatus::Failed;
    task.status_message = Some(TEXT.to_owned());
    let mut lost = switchboard_protocol::DetailedTask::new(task);
    lost.error = Some(RpcError::internal(TEXT));
    lost
}
