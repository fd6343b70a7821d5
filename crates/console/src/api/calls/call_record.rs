//! One call of the console: its request, its state, and its result.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use switchboard_host::Run;
use switchboard_json::Raw;
use switchboard_protocol::{LogMessage, Root, Task};
use tokio::sync::Notify;

use crate::api::clock::unix_ms_now;
use crate::api::questions::{AskingCall, CallHandler, PendingQuestions};
use crate::api::tasks::task_status;
use crate::contract::{
    CallLog, CallOutcome, CallRequest, CallSnapshot, CallState, Progress, TaskStatus, UnixMs,
};

/// Log messages that are kept.
const MAX_LOGS: usize = 100;
/// The length of a log message, in characters.
const MAX_LOG: usize = 4_000;

/// A call.
pub(crate) struct CallRecord {
    pub(super) number: u64,
    pub(super) request: CallRequest,
    started_at_ms: UnixMs,
    /// Cancels the call, and answers the questions within it.
    pub(super) run: Run,
    /// Wakes the task that publishes changes.
    pub(super) changed: Notify,
    // Held for a read or a change, never while an event is published.
    state: Mutex<RecordState>,
}

#[derive(Default)]
struct RecordState {
    progress: Option<Progress>,
    logs: VecDeque<CallLog>,
    questions: Vec<u64>,
    task: Option<(String, TaskStatus)>,
    finished: Option<(UnixMs, CallOutcome)>,
    result: Option<Raw>,
}

impl CallRecord {
    /// Creates the record of a call that starts now.
    pub(super) fn new(
        number: u64,
        request: CallRequest,
        questions: &Arc<PendingQuestions>,
        roots: Vec<Root>,
    ) -> Arc<Self> {
        Arc::new_cyclic(|call: &Weak<Self>| {
            let handler = CallHandler { questions: Arc::clone(questions), call: Weak::clone(call), roots };
            Self {
                number,
                request,
                started_at_ms: unix_ms_now(),
                run: Run::with_handler(handler),
                changed: Notify::new(),
                state: Mutex::default(),
            }
        })
    }

    /// Returns the server that is called.
    pub(super) fn server(&self) -> &str {
        match &self.request {
            CallRequest::Tool { server, .. }
            | CallRequest::Resource { server, .. }
            | CallRequest::Prompt { server, .. } => server,
        }
    }

    pub(super) fn snapshot(&self) -> CallSnapshot {
        let state = self.state.lock();
        let call_state = match (&state.finished, &state.task) {
            (Some((at_ms, outcome)), _) => CallState::Finished { at_ms: *at_ms, outcome: outcome.clone() },
            _ if !state.questions.is_empty() => {
                CallState::WaitingForAnswer { questions: state.questions.clone() }
            }
            (None, Some((task_id, status))) => CallState::Task { task_id: task_id.clone(), status: *status },
            (None, None) => CallState::Running,
        };
        CallSnapshot {
            call: self.number,
            request: self.request.clone(),
            started_at_ms: self.started_at_ms,
            state: call_state,
            progress: state.progress.clone(),
            logs: state.logs.iter().cloned().collect(),
        }
    }

    pub(super) fn is_finished(&self) -> bool {
        self.state.lock().finished.is_some()
    }

    /// Returns the result; `None` without one.
    pub(super) fn result(&self) -> Option<Raw> {
        self.state.lock().result.clone()
    }

    /// Returns the id of the task that the call has become.
    pub(super) fn task_id(&self) -> Option<String> {
        self.state.lock().task.as_ref().map(|(task_id, _)| task_id.clone())
    }

    /// Returns the bytes that are kept of the call.
    pub(super) fn kept_bytes(&self) -> usize {
        let request = match &self.request {
            CallRequest::Tool { arguments_json, .. } => arguments_json.len(),
            _ => 0,
        };
        let state = self.state.lock();
        let logs: usize = state.logs.iter().map(|log| log.message.len()).sum();
        request + logs + state.result.as_ref().map_or(0, Raw::len)
    }

    /// Ends the call.
    pub(super) fn finish(&self, outcome: CallOutcome, result: Option<Raw>) {
        let mut state = self.state.lock();
        state.finished = Some((unix_ms_now(), outcome));
        state.result = result;
        state.questions.clear();
    }

    pub(super) fn note_progress(&self, progress: Progress) {
        self.change(|state| state.progress = Some(progress));
    }

    /// Keeps a log message, the text of which goes through `mask`.
    pub(super) fn note_log(&self, log: &LogMessage, mask: impl Fn(String) -> String) {
        let text = log.data.decode::<String>().unwrap_or_else(|_| log.data.as_str().to_owned());
        let text = mask(match &log.logger {
            Some(logger) => format!("{logger}: {text}"),
            None => text,
        });
        let message = match text.char_indices().nth(MAX_LOG) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        };
        let log = CallLog { at_ms: unix_ms_now(), level: log.level.as_str().to_owned(), message };
        self.change(|state| {
            state.logs.push_back(log);
            let over = state.logs.len().saturating_sub(MAX_LOGS);
            state.logs.drain(..over);
        });
    }

    pub(super) fn note_task(&self, task: &Task) {
        let state = (task.task_id.clone(), task_status(task.status));
        self.change(|record| record.task = Some(state));
    }

    fn change(&self, change: impl FnOnce(&mut RecordState)) {
        change(&mut self.state.lock());
        self.changed.notify_one();
    }
}

impl AskingCall for CallRecord {
    fn number(&self) -> u64 {
        self.number
    }

    fn question_opened(&self, question: u64) {
        self.change(|state| state.questions.push(question));
    }

    fn question_closed(&self, question: u64) {
        self.change(|state| state.questions.retain(|open| *open != question));
    }
}

impl std::fmt::Debug for CallRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallRecord").field("number", &self.number).finish_non_exhaustive()
    }
}
