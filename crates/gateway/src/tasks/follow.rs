//! Status of tasks, announced to whoever listens for it, and to sessions that created one.

use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::{DetailedTask, FromRaw, LegacyTaskState, ListenFilter, Raw, TaskStatus};
use switchboard_session::TaskProtocol;
use switchboard_session::client::Change;
use switchboard_session::server::{Caller, Publisher};

use super::core_task::{ask_upstream, detailed, id_params};
use super::requests::{exposed_task, trusted_annotations};
use super::task_handle::TaskHandle;
use crate::policy::{Decision, Target, TargetKind};
use crate::state::GatewayState;
use crate::view_state::ViewState;

/// The pause between two looks at a task of a server that does not announce changes, and before a stream is reopened.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Returns whether a caller may follow a task.
pub(crate) fn may_follow(state: &ViewState, task: &str, caller: Option<&Caller>) -> bool {
    let owner = caller.map(Caller::principal);
    let keys = &state.gateway.options.state_keys;
    let Some(handle) = TaskHandle::open(keys, state.name.as_deref(), owner.as_deref(), task) else {
        return false;
    };
    let annotations = trusted_annotations(state, &handle);
    let target = Target::new(&handle.server, TargetKind::Task, &handle.tool);
    let target = Target { annotations: annotations.as_ref(), ..target };
    let decision = state.gateway.access.decide(&state.subject(caller), &target);
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
}

impl Follower {
    async fn run(self) {
        match self.handle.protocol() {
            TaskProtocol::Extension => self.listen().await,
            TaskProtocol::Core => self.poll().await,
        }
    }

    /// Publishes a state. Returns whether the task is over.
    fn publish(&self, task: DetailedTask) -> bool {
        let is_over = task.task.status.is_terminal();
        self.publisher.task_changed(task);
        is_over
    }

    /// Publishes a state as the server wrote it. Returns whether the task is over.
    fn publish_raw(&self, raw: &Raw) -> bool {
        exposed_task(raw, &self.exposed).is_ok_and(|task| self.publish(task))
    }

    /// Listens at the server; again when the connection was lost.
    async fn listen(&self) {
        let mut pause = PAUSE;
        loop {
            let (host, scope) = (&self.gateway.host, self.handle.scope());
            // A session that has ended took its tasks along.
            if scope.as_ref().is_some_and(|scope| !host.has_session(&self.handle.server, scope.key)) {
                return;
            }
            let session = host.session_in(&self.handle.server, scope.as_ref()).await;
            if let Ok(session) = session {
                let filter = ListenFilter::new().with_task_ids([self.handle.id.clone()]);
                if let Ok(mut stream) = session.listen(filter).await {
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
            Err(_) => false,
        }
    }

    /// Looks at the task from time to time: a server of the core protocol need not announce changes.
    async fn poll(&self) {
        let mut last: Option<(TaskStatus, Option<String>, usize)> = None;
        loop {
            let mut pause = PAUSE;
            if let Ok(task) = detailed(&self.gateway, (&self.handle, &self.exposed)).await {
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
pub(crate) fn notify_owner(state: &ViewState, server: &str, raw: &Raw) {
    let Ok(mut status) = LegacyTaskState::from_raw(raw) else { return };
    let owned = state.gateway.owned_tasks.find(server, &status.task.task_id, state.name.as_deref());
    for task in owned {
        let Some(session) = task.session else { continue };
        task.exposed.as_ref().clone_into(&mut status.task.task_id);
        status.meta = None;
        if let Ok(params) = Raw::encode(&status) {
            state.publisher.notify_session(session, "notifications/tasks/status", params);
        }
    }
}
