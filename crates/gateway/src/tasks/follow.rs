//! Status of tasks, announced to whoever listens for it, and to sessions that created one.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::{
    DetailedTask, ErrorCode, FromRaw, LegacyTaskState, ListenFilter, Raw, Task, TaskStatus,
};
use switchboard_session::TaskProtocol;
use switchboard_session::client::Change;
use switchboard_session::server::{Caller, Publisher};

use super::core_task::{ask_upstream, detailed, id_params};
use super::requests::{exposed_task, open_task, task_target, trusted_annotations};
use super::task_handle::TaskHandle;
use super::task_session::{is_gone, lost, open_session, task_session};
use crate::policy::Decision;
use crate::state::GatewayState;
use crate::view_state::ViewState;

/// The pause between two looks at a task of a server that does not announce changes, and before a stream is reopened.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Returns whether a caller may follow a task.
pub(crate) fn may_follow(state: &ViewState, task: &str, caller: Option<&Caller>) -> bool {
    let owner = caller.map(Caller::principal);
    let Some(handle) = open_task(state, owner.as_deref(), task) else { return false };
    let rules = state.gateway.access.rules();
    let annotations = trusted_annotations(state, &rules, &handle);
    let target = task_target(&handle, annotations.as_ref());
    let decision = rules.decide(&state.subject(caller), &target);
    matches!(decision, Decision::Allow { .. }) && !handle.is_elsewhere(&state.gateway.options.replica)
}

/// Starts to follow a task for the listen streams of a view.
pub(crate) fn follow(state: &ViewState, task: &str) {
    let keys = &state.gateway.options.state_keys;
    let Some(handle) = TaskHandle::read(keys, state.name.as_deref(), task) else { return };
    state.followers.add(task, || {
        let follower = Follower {
            gateway: Arc::clone(&state.gateway),
            publisher: state.publisher.clone(),
            handle,
            exposed: task.to_owned(),
            last: Mutex::new(None),
        };
        // Aborted with its last stream.
        tokio::spawn(follower.run()).abort_handle()
    });
}

/// Publishes the states of one task until it is over.
struct Follower {
    gateway: Arc<GatewayState>,
    publisher: Publisher,
    handle: TaskHandle,
    exposed: String,
    /// The state that was published last. Held for a read or a write, never across an await.
    last: Mutex<Option<Task>>,
}

impl Follower {
    async fn run(self) {
        // The session is not stopped as idle while its task is followed.
        let _lease = open_session(&self.gateway.host, &self.handle);
        match self.handle.protocol() {
            TaskProtocol::Extension => self.listen().await,
            TaskProtocol::Core => self.poll().await,
        }
        let last = self.last.lock().take();
        if let Some(task) = last.filter(|task| !task.status.is_terminal()) {
            self.publish(lost(task));
        }
    }

    /// Publishes a state. Returns whether the task is over.
    fn publish(&self, task: DetailedTask) -> bool {
        let is_over = task.task.status.is_terminal();
        if is_over {
            self.gateway.owned_tasks.finished(&self.exposed);
        }
        *self.last.lock() = Some(task.task.clone());
        self.publisher.task_changed(task);
        is_over
    }

    /// Publishes a state as the server wrote it. Returns whether the task is over.
    fn publish_raw(&self, raw: &Raw) -> bool {
        exposed_task(raw, &self.handle.server, &self.exposed).is_ok_and(|task| self.publish(task))
    }

    /// Listens at the server; again when the connection was lost.
    async fn listen(&self) {
        let mut pause = PAUSE;
        loop {
            let host = &self.gateway.host;
            if is_gone(host, &self.handle) {
                return;
            }
            if let Ok(Some(lease)) = task_session(host, &self.handle).await {
                let filter = ListenFilter::new().with_task_ids([self.handle.id.clone()]);
                if let Ok(mut stream) = lease.session().listen(filter).await {
                    // What changed before the stream was open was missed.
                    if self.publish_current().await {
                        return;
                    }
                    pause = PAUSE;
                    while let Some(change) = stream.next().await {
                        match change {
                            Change::Task(raw) if self.publish_raw(&raw) => return,
                            Change::Ended => break,
                            _ => {}
                        }
                    }
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn publish_current(&self) -> bool {
        let Ok(params) = id_params(&self.handle) else { return true };
        let asked = (&self.handle, self.exposed.as_str());
        match ask_upstream(&self.gateway.host, asked, "tasks/get", params).await {
            Ok(raw) => self.publish_raw(&raw),
            Err(error) => error.code == ErrorCode::INVALID_PARAMS,
        }
    }

    /// Looks at the task from time to time: a server of the core protocol need not announce changes.
    async fn poll(&self) {
        let mut last: Option<(TaskStatus, Option<String>, usize)> = None;
        loop {
            let mut pause = PAUSE;
            let asked = detailed(&self.gateway, (&self.handle, &self.exposed)).await;
            // The server, or the session, does not know it any more.
            if asked.as_ref().is_err_and(|error| error.code == ErrorCode::INVALID_PARAMS) {
                return;
            }
            if let Ok(task) = asked {
                let questions = task.input_requests.as_ref().map_or(0, |questions| questions.len());
                let seen = (task.task.status, task.task.status_message.clone(), questions);
                let interval = task.task.poll_interval_ms.map(Duration::from_millis);
                pause = interval.unwrap_or(PAUSE).clamp(Duration::from_millis(100), LONGEST_PAUSE);
                if last.as_ref() != Some(&seen) && self.publish(task) {
                    return;
                }
                last = Some(seen);
            }
            tokio::time::sleep(pause).await;
        }
    }
}

/// Tells the session that created a task of its new state (2025-11-25).
pub(crate) fn notify_owner(state: &ViewState, (server, session): (&str, u64), raw: &Raw) {
    let Ok(mut status) = LegacyTaskState::from_raw(raw) else { return };
    let owned =
        state.gateway.owned_tasks.find((server, session), &status.task.task_id, state.name.as_deref());
    for task in owned {
        if status.task.status.is_terminal() {
            state.gateway.owned_tasks.finished(&task.exposed);
        }
        let Some(session) = task.session else { continue };
        task.exposed.as_ref().clone_into(&mut status.task.task_id);
        status.meta = None;
        if let Ok(params) = Raw::encode(&status) {
            state.publisher.notify_session(session, "notifications/tasks/status", params);
        }
    }
}
