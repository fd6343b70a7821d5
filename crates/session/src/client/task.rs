//! Polls a task until its result, by the protocol of its era. Dropping the call cancels the task.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::{
    DetailedTask, FromRaw, InputRequests, InputResponses, LegacyTaskState, Raw, TaskIdParams, TaskStatus,
    UpdateTaskParams,
};

use crate::client::CallOptions;
use crate::client::call::{ClientCall, RequestOrigin};
use crate::client::change_stream::Change;
use crate::client::deadline::{CallClock, CallDeadline, DeadlineState};
use crate::client::live_session::LiveSession;
use crate::era::{TaskProtocol, TaskTicket};
use crate::link::{BoxFuture, CallNumber, ExchangeKind, LinkError};
use crate::request::CallError;

/// The polling interval when the server names none.
const POLL: Duration = Duration::from_secs(1);
/// The bounds of the server's polling interval.
const POLL_MIN: Duration = Duration::from_millis(20);
const POLL_MAX: Duration = Duration::from_secs(60);

/// A task, and the call that has become it.
struct FollowedTask<'a> {
    ticket: TaskTicket,
    /// The options of the call.
    options: &'a CallOptions,
}

/// Cancels the task when dropped before the task has ended.
struct TaskGuard<'a> {
    live: &'a LiveSession,
    id: String,
    call: Option<CallNumber>,
    is_finished: bool,
}

impl Drop for TaskGuard<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            // Nobody waits for the response; a task is never cancelled by notification.
            let params = TaskIdParams::new(self.id.as_str());
            let (kind, origin) =
                (ExchangeKind::Detached, RequestOrigin { capabilities: None, call: self.call });
            drop(self.live.open_request_with("tasks/cancel", &params, Some(&self.id), kind, origin));
        }
    }
}

impl LiveSession {
    /// Waits for the result of a task that a call has become. Boxed, so that its code is generated once.
    pub(crate) fn follow_task<'a>(
        &'a self,
        ticket: TaskTicket,
        options: &'a CallOptions,
        deadline: &'a mut CallDeadline<'_>,
    ) -> BoxFuture<'a, Result<Raw, CallError>> {
        Box::pin(self.follow_in_era(FollowedTask { ticket, options }, deadline))
    }

    async fn follow_in_era(
        &self,
        task: FollowedTask<'_>,
        deadline: &mut CallDeadline<'_>,
    ) -> Result<Raw, CallError> {
        let mut guard = TaskGuard {
            live: self,
            id: task.ticket.id.clone(),
            call: task.options.number,
            is_finished: false,
        };
        task.options.report_task(&task.ticket.state);
        let outcome = match self.dialect.task_protocol() {
            TaskProtocol::Core => self.follow_core(&task, deadline).await,
            TaskProtocol::Extension => self.follow_extension(&task, deadline).await,
        };
        // A task ends with a response of the server or with the connection; after any other error it still runs and is
        // cancelled.
        guard.is_finished = match &outcome {
            Ok(_) | Err(CallError::Remote(_) | CallError::Cancelled | CallError::Closed) => true,
            Err(CallError::Link(error)) => error.ends_connection(),
            Err(_) => false,
        };
        outcome.map_err(Self::as_started)
    }

    /// 2025-11-25: polls the task until it has ended or requires input, then requests its result.
    async fn follow_core(
        &self,
        task @ FollowedTask { ticket, options }: &FollowedTask<'_>,
        deadline: &mut CallDeadline<'_>,
    ) -> Result<Raw, CallError> {
        let id = Raw::encode(&TaskIdParams::new(ticket.id.as_str()))?;
        let mut interval = ticket.poll_interval_ms;
        let mut last_message = None;
        loop {
            self.wait_for_poll(interval, deadline).await?;
            let raw: Raw = self.request_task("tasks/get", task, &id).await?;
            let state =
                LegacyTaskState::from_raw(&raw).map_err(|error| CallError::protocol("tasks/get", error))?;
            // A server need not notify of a new message, so one found by polling is published like a notification.
            if state.task.status_message.is_some() && state.task.status_message != last_message {
                last_message.clone_from(&state.task.status_message);
                self.changes.publish(Change::Task(raw));
            }
            interval = state.task.poll_interval.or(interval);
            let status = state.task.status;
            options.report_task(&state.task.into());
            if status.is_terminal() || status == TaskStatus::InputRequired {
                break;
            }
        }
        // Blocks until the task has ended; input requests of the server arrive meanwhile as upcalls.
        self.call_boxed(
            ClientCall::new("tasks/result", id.as_str())
                .about(&ticket.id)
                .within(deadline.remaining())
                .part_of(options.number),
        )
        .await
    }

    /// Follows a task of the tasks extension: the state carries the result, and `tasks/update` answers input requests.
    async fn follow_extension(
        &self,
        task @ FollowedTask { ticket, options }: &FollowedTask<'_>,
        deadline: &mut CallDeadline<'_>,
    ) -> Result<Raw, CallError> {
        let id = Raw::encode(&TaskIdParams::new(ticket.id.as_str()))?;
        let mut interval = ticket.poll_interval_ms;
        let mut answered = HashSet::new();
        loop {
            self.wait_for_poll(interval, deadline).await?;
            let detailed: DetailedTask = self.request_task("tasks/get", task, &id).await?;
            interval = detailed.task.poll_interval_ms.or(interval);
            options.report_task(&detailed.task);
            let missing = |what| {
                let error =
                    switchboard_protocol::DecodeError::mismatch(what, "missing although the task is over");
                CallError::protocol("tasks/get", error)
            };
            match detailed.task.status {
                TaskStatus::Completed => return detailed.result.ok_or_else(|| missing("result")),
                TaskStatus::Failed => {
                    return Err(detailed.error.map_or_else(|| missing("error"), CallError::Remote));
                }
                TaskStatus::Cancelled => return Err(CallError::Cancelled),
                TaskStatus::InputRequired => {
                    let asked = detailed.input_requests.unwrap_or_default();
                    let new: InputRequests =
                        asked.into_iter().filter(|(key, _)| !answered.contains(key)).collect();
                    if !new.is_empty() {
                        answered.extend(new.keys().map(str::to_owned));
                        self.send_inputs(task, new, &deadline.call_clock()).await?;
                        deadline.record_activity();
                    }
                }
                _ => {}
            }
        }
    }

    async fn send_inputs(
        &self,
        task: &FollowedTask<'_>,
        asked: InputRequests,
        clock: &Arc<CallClock>,
    ) -> Result<(), CallError> {
        let id = task.ticket.id.as_str();
        let handler = task.options.handler.as_ref().unwrap_or(&self.handler);
        let encoded = self.answer_inputs(asked, &**handler, clock).await?;
        let responses =
            InputResponses::from_raw(&encoded).map_err(|error| CallError::protocol("tasks/update", error))?;
        let params = Raw::encode(&UpdateTaskParams::new(id, responses))?;
        self.call_boxed(
            ClientCall::new("tasks/update", params.as_str())
                .about(id)
                .within(self.limits().read)
                .part_of(task.options.number),
        )
        .await?;
        Ok(())
    }

    /// Makes an error of a later step non-retryable: the call itself was already started.
    fn as_started(error: CallError) -> CallError {
        match error {
            CallError::Link(LinkError::Overloaded { what }) => CallError::Link(LinkError::lost(what)),
            CallError::Link(LinkError::Lost { reason, .. }) => CallError::Link(LinkError::lost(reason)),
            other => other,
        }
    }

    async fn request_task<T: FromRaw>(
        &self,
        method: &'static str,
        task: &FollowedTask<'_>,
        params: &Raw,
    ) -> Result<T, CallError> {
        let call = ClientCall::new(method, params.as_str()).about(&task.ticket.id);
        let raw = self.call_boxed(call.within(self.limits().read).part_of(task.options.number)).await?;
        T::from_raw(&raw).map_err(|error| CallError::protocol(method, error))
    }

    /// Waits for the next poll.
    async fn wait_for_poll(
        &self,
        interval_ms: Option<u64>,
        deadline: &mut CallDeadline<'_>,
    ) -> Result<(), CallError> {
        let wait = interval_ms.map_or(POLL, Duration::from_millis).clamp(POLL_MIN, POLL_MAX);
        tokio::time::sleep(wait.min(deadline.remaining())).await;
        // Only the total timeout applies here; each poll has a timeout of its own.
        deadline.record_activity();
        match deadline.check() {
            DeadlineState::Until(_) => Ok(()),
            DeadlineState::Expired(kind, after) => {
                Err(CallError::TimedOut { kind, after, hint: self.link.hint() })
            }
        }
    }
}
