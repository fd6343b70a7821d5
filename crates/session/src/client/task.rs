//! Following a task to its result, in the way of its era. Dropping the call cancels the task.

use std::collections::HashSet;
use std::time::Duration;

use switchboard_protocol::{
    DetailedTask, FromRaw, InputRequests, InputResponses, LegacyTaskState, Raw, TaskIdParams, TaskStatus,
    UpdateTaskParams,
};

use crate::client::call::Call;
use crate::client::change_stream::Change;
use crate::client::clock::{Reading, Watch};
use crate::client::live::Live;
use crate::era::{Extras, TaskTicket, TaskWays};
use crate::link::{Ask, BoxFuture, Life, LinkError};
use crate::request::CallError;

/// How often a task is asked after when the server does not say.
const POLL: Duration = Duration::from_secs(1);
/// The bounds of what a server may say.
const POLL_LEAST: Duration = Duration::from_millis(20);
const POLL_MOST: Duration = Duration::from_secs(60);

/// Cancels the task unless it was followed to its end.
struct Following<'a> {
    live: &'a Live,
    id: String,
    over: bool,
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let Ok(body) = Raw::encode(&TaskIdParams::new(self.id.as_str())) else { return };
        let mut params = body.as_str().to_owned();
        self.live.dialect.dress(&mut params, &Extras::default());
        // Nobody waits for the answer; a task is never cancelled by notification.
        let id = self.live.next_id();
        let mirror = self.live.mirror(Some(&self.id), None);
        drop(self.live.link.open(Ask {
            id,
            method: "tasks/cancel",
            params: &params,
            mirror,
            life: Life::Detached,
        }));
    }
}

impl Live {
    /// Waits for the result of a task. Boxed here, so that it is made once.
    pub(crate) fn follow<'a>(
        &'a self,
        ticket: TaskTicket,
        watch: &'a mut Watch<'_>,
    ) -> BoxFuture<'a, Result<Raw, CallError>> {
        Box::pin(self.follow_on(ticket, watch))
    }

    async fn follow_on(&self, ticket: TaskTicket, watch: &mut Watch<'_>) -> Result<Raw, CallError> {
        let mut following = Following { live: self, id: ticket.id.clone(), over: false };
        let outcome = match self.dialect.task_ways() {
            TaskWays::Core => self.follow_core(&ticket, watch).await,
            TaskWays::Extension => self.follow_extension(&ticket, watch).await,
        };
        // Only a word of the server ends a task, or its end; anything else leaves it running, to be cancelled.
        following.over = match &outcome {
            Ok(_) | Err(CallError::Remote(_) | CallError::Cancelled | CallError::Closed) => true,
            Err(CallError::Link(error)) => error.ends_connection(),
            Err(_) => false,
        };
        outcome.map_err(Self::begun)
    }

    /// 2025-11-25: ask after the task until it is over or wants input, then ask for its result.
    async fn follow_core(&self, ticket: &TaskTicket, watch: &mut Watch<'_>) -> Result<Raw, CallError> {
        let id = Raw::encode(&TaskIdParams::new(ticket.id.as_str()))?;
        let mut interval = ticket.poll_interval_ms;
        let mut last_message = None;
        loop {
            self.pause(interval, watch).await?;
            let raw: Raw = self.ask("tasks/get", &ticket.id, &id).await?;
            let state =
                LegacyTaskState::from_raw(&raw).map_err(|error| CallError::protocol("tasks/get", error))?;
            // A server need not notify of a new message, so what polling finds is told like a notification.
            if state.task.status_message.is_some() && state.task.status_message != last_message {
                last_message.clone_from(&state.task.status_message);
                self.changes.tell(Change::Task(raw));
            }
            interval = state.task.poll_interval.or(interval);
            if state.task.status.is_terminal() || state.task.status == TaskStatus::InputRequired {
                break;
            }
        }
        // Blocks until the task is over; a question of the server reaches us meanwhile as an upcall.
        self.call_boxed(Call::new("tasks/result", id.as_str()).about(&ticket.id).within(watch.left())).await
    }

    /// The extension: the state carries the result, and questions are answered with an update.
    async fn follow_extension(&self, ticket: &TaskTicket, watch: &mut Watch<'_>) -> Result<Raw, CallError> {
        let id = Raw::encode(&TaskIdParams::new(ticket.id.as_str()))?;
        let mut interval = ticket.poll_interval_ms;
        let mut answered = HashSet::new();
        loop {
            self.pause(interval, watch).await?;
            let detailed: DetailedTask = self.ask("tasks/get", &ticket.id, &id).await?;
            interval = detailed.task.poll_interval_ms.or(interval);
            let lacking = |what| {
                let error =
                    switchboard_protocol::DecodeError::mismatch(what, "missing although the task is over");
                CallError::protocol("tasks/get", error)
            };
            match detailed.task.status {
                TaskStatus::Completed => return detailed.result.ok_or_else(|| lacking("result")),
                TaskStatus::Failed => {
                    return Err(detailed.error.map_or_else(|| lacking("error"), CallError::Remote));
                }
                TaskStatus::Cancelled => return Err(CallError::Cancelled),
                TaskStatus::InputRequired => {
                    let asked = detailed.input_requests.unwrap_or_default();
                    let new: InputRequests =
                        asked.into_iter().filter(|(key, _)| !answered.contains(key)).collect();
                    if !new.is_empty() {
                        answered.extend(new.keys().map(str::to_owned));
                        self.update(&ticket.id, new).await?;
                        watch.word();
                    }
                }
                _ => {}
            }
        }
    }

    async fn update(&self, id: &str, asked: InputRequests) -> Result<(), CallError> {
        let answers = self.inputs(asked, &*self.answers).await?;
        let responses =
            InputResponses::from_raw(&answers).map_err(|error| CallError::protocol("tasks/update", error))?;
        let params = Raw::encode(&UpdateTaskParams::new(id, responses))?;
        self.call_boxed(Call::new("tasks/update", params.as_str()).about(id).within(self.limits().read))
            .await?;
        Ok(())
    }

    /// An error of a later step: the call itself has begun, so it is not one to simply repeat.
    fn begun(error: CallError) -> CallError {
        match error {
            CallError::Link(LinkError::Overloaded { what }) => CallError::Link(LinkError::lost(what)),
            CallError::Link(LinkError::Lost { reason, .. }) => CallError::Link(LinkError::lost(reason)),
            other => other,
        }
    }

    async fn ask<T: FromRaw>(&self, method: &'static str, id: &str, params: &Raw) -> Result<T, CallError> {
        let raw =
            self.call_boxed(Call::new(method, params.as_str()).about(id).within(self.limits().read)).await?;
        T::from_raw(&raw).map_err(|error| CallError::protocol(method, error))
    }

    /// Waits until it is time to ask again.
    async fn pause(&self, interval_ms: Option<u64>, watch: &mut Watch<'_>) -> Result<(), CallError> {
        let wait = interval_ms.map_or(POLL, Duration::from_millis).clamp(POLL_LEAST, POLL_MOST);
        tokio::time::sleep(wait.min(watch.left())).await;
        // What is bounded here is the whole; each question has a bound of its own.
        watch.word();
        match watch.read() {
            Reading::Until(_) => Ok(()),
            Reading::Expired(phase, after) => {
                Err(CallError::TimedOut { phase, after, hint: self.link.hint() })
            }
        }
    }
}
