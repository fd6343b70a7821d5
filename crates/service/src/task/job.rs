//! A running task: its status, its input requests, and its change notifications.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::{
    DetailedTask, InputRequest, InputRequests, Raw, RpcError, ServerResult, Task, TaskStatus,
};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{AskError, Caller, InputChannel, Reply, RequestContext};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::{TaskRecord, timestamp};

/// A running task. Followers wait on `changes`.
pub(super) struct Job {
    pub(super) owner: Option<String>,
    /// The client whose limits it counts against.
    client: Option<String>,
    /// The request that created it.
    pub(super) cx: RequestContext,
    pub(super) expires_at: Instant,
    // Held for a lookup or an update, never across an await.
    state: Mutex<JobState>,
    /// Number of changes.
    changes: watch::Sender<u64>,
}

/// The mutable state of a task.
struct JobState {
    task: Task,
    outcome: Option<Result<Raw, RpcError>>,
    /// Unanswered input requests, oldest first.
    open: Vec<TaskQuestion>,
    /// All input requests so far by key, with the response if there is one.
    known: HashMap<String, (InputRequest, Option<Raw>)>,
}

/// An input request of the task that is not answered yet.
struct TaskQuestion {
    key: String,
    request: InputRequest,
    /// Whether a follower is sending it to the client.
    claimed: bool,
    answer: oneshot::Sender<Result<Raw, AskError>>,
}

/// Maximum number of input requests per task.
const MAX_QUESTIONS: usize = 1000;

impl Job {
    pub(super) fn new(id: String, cx: RequestContext, ttl: Duration, poll_interval: Duration) -> Self {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let task = Task::new(id, timestamp::now())
            .with_ttl_ms(millis(ttl))
            .with_poll_interval_ms(millis(poll_interval));
        let state = JobState { task, outcome: None, open: Vec::new(), known: HashMap::new() };
        Self {
            owner: cx.owner(),
            client: client(&cx),
            cx,
            expires_at: Instant::now() + ttl,
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
        }
    }

    pub(super) fn record(&self) -> TaskRecord {
        let state = self.state.lock();
        let mut detailed = DetailedTask::new(state.task.clone());
        match &state.outcome {
            Some(Ok(result)) => detailed.result = Some(result.clone()),
            Some(Err(error)) => detailed.error = Some(error.clone()),
            None if state.open.is_empty() => {}
            None => {
                let requests =
                    state.open.iter().map(|question| (question.key.clone(), question.request.clone()));
                detailed.input_requests = Some(requests.collect::<InputRequests>());
            }
        }
        TaskRecord::new(self.owner.clone(), detailed).with_client(self.client.clone())
    }

    /// Returns the remaining time to live.
    pub(super) fn remaining_ttl(&self) -> Duration {
        self.expires_at.saturating_duration_since(Instant::now())
    }

    /// Waits until the task is abandoned: its TTL has expired, or its anonymous session has ended.
    pub(super) async fn wait_until_abandoned(&self) {
        let orphaned = async {
            match self.cx.caller() {
                Some(_) => std::future::pending().await,
                None => self.cx.session_ended().await,
            }
        };
        // The end of the session and the timeout are equivalent.
        let _ = tokio::time::timeout_at(self.expires_at, orphaned).await;
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Changes the state and notifies followers, unless the task is finished. Returns whether it was already
    /// finished.
    fn change(&self, change: impl FnOnce(&mut JobState)) -> bool {
        let mut state = self.state.lock();
        if state.task.status.is_terminal() {
            return true;
        }
        change(&mut state);
        if !state.task.status.is_terminal() {
            let has_questions = !state.open.is_empty();
            state.task.status = if has_questions { TaskStatus::InputRequired } else { TaskStatus::Working };
        } else {
            // Their receivers are dropped with the work.
            state.open.clear();
        }
        state.task.last_updated_at = timestamp::now();
        drop(state);
        self.changes.send_modify(|times| *times += 1);
        false
    }

    /// Stores the result of the work.
    pub(super) fn finish(&self, reply: Reply) {
        let outcome = reply.and_then(|result| encode_result(result, &self.cx));
        self.change(|state| {
            state.task.status = if outcome.is_ok() { TaskStatus::Completed } else { TaskStatus::Failed };
            state.task.status_message = outcome.as_ref().err().map(|error| error.message.clone());
            state.outcome = Some(outcome);
        });
    }

    /// Cancels the task. Returns whether it was already finished.
    pub(super) fn cancel(&self) -> bool {
        let was_finished = self.change(|state| state.task.status = TaskStatus::Cancelled);
        if !was_finished {
            self.cx.end();
        }
        was_finished
    }

    /// Resolves an input request. Unknown and already resolved keys are ignored.
    pub(super) fn answer(&self, key: &str, answer: Result<Raw, AskError>) {
        let is_open = |state: &JobState| state.open.iter().position(|question| question.key == key);
        if is_open(&self.state.lock()).is_none() {
            return;
        }
        self.change(|state| {
            let Some(at) = is_open(state) else { return };
            let question = state.open.remove(at);
            if let (Ok(answer), Some(known)) = (&answer, state.known.get_mut(key)) {
                known.1 = Some(answer.clone());
            }
            // The method may have stopped waiting.
            let _ = question.answer.send(answer);
        });
    }

    /// Claims an unanswered input request that no follower is sending yet.
    pub(super) fn claim_question(self: &Arc<Self>) -> Option<ClaimedQuestion> {
        let mut state = self.state.lock();
        let question = state.open.iter_mut().find(|question| !question.claimed)?;
        question.claimed = true;
        Some(ClaimedQuestion {
            job: Arc::clone(self),
            key: question.key.clone(),
            request: question.request.clone(),
        })
    }

    fn ask(self: &Arc<Self>, key: &str, request: InputRequest) -> Result<PendingAnswer, AnswerResult> {
        let (answer, receiver) = oneshot::channel();
        let mut wire_key = None;
        let mut known_answer = None;
        self.change(|state| {
            // A key on the wire identifies one request, however often the method reuses it.
            let mut unique_key = key.to_owned();
            let mut times = 1;
            while let Some((known, response)) = state.known.get(&unique_key) {
                if *known == request {
                    known_answer.clone_from(response);
                    if known_answer.is_some() {
                        return;
                    }
                }
                times += 1;
                unique_key = format!("{key}#{times}");
            }
            if state.known.len() >= MAX_QUESTIONS {
                return;
            }
            state.known.insert(unique_key.clone(), (request.clone(), None));
            state.open.push(TaskQuestion { key: unique_key.clone(), request, claimed: false, answer });
            wire_key = Some(unique_key);
        });
        match (known_answer, wire_key) {
            (Some(answer), _) => Err(Ok(answer)),
            (None, Some(key)) => Ok(PendingAnswer { job: Arc::clone(self), key, receiver }),
            (None, None) => Err(Err(AskError::Invalid(
                "the task has finished or has sent too many input requests".into(),
            ))),
        }
    }
}

/// Returns the client whose limits a request counts against: its caller, or else its address.
fn client(cx: &RequestContext) -> Option<String> {
    #[cfg(any(feature = "http", feature = "rpc"))]
    if cx.caller().is_none() {
        use switchboard_transport::http::server::ClientAddress;
        return cx.extension::<ClientAddress>().map(ToString::to_string);
    }
    cx.caller().map(Caller::principal)
}

type AnswerResult = Result<Raw, AskError>;

/// Encodes a result for the revision of the request.
fn encode_result(mut result: ServerResult, cx: &RequestContext) -> Result<Raw, RpcError> {
    result.lower(cx.revision());
    Raw::encode(&result).map_err(|error| RpcError::internal(error.to_string()))
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("status", &self.state.lock().task.status).finish_non_exhaustive()
    }
}

/// Routes the input requests of a job's work through the job.
///
/// Weak, because the job holds the request context, which holds this.
pub(super) struct TaskQuestions(pub(super) Weak<Job>);

impl InputChannel for TaskQuestions {
    fn ask(&self, key: &str, request: InputRequest) -> BoxFuture<'static, AnswerResult> {
        let Some(job) = self.0.upgrade() else { return Box::pin(async { Err(AskError::Gone) }) };
        match job.ask(key, request) {
            Ok(mut pending) => Box::pin(async move {
                let answered = (&mut pending.receiver).await;
                answered.unwrap_or(Err(AskError::Gone))
            }),
            Err(answered) => Box::pin(async { answered }),
        }
    }
}

/// A pending response to an input request. Dropping it withdraws the request.
struct PendingAnswer {
    job: Arc<Job>,
    key: String,
    receiver: oneshot::Receiver<AnswerResult>,
}

impl Drop for PendingAnswer {
    fn drop(&mut self) {
        self.job.answer(&self.key, Err(AskError::Gone));
    }
}

/// An input request claimed by a follower. Dropped without a response, it can be claimed again.
pub(super) struct ClaimedQuestion {
    job: Arc<Job>,
    key: String,
    pub(super) request: InputRequest,
}

impl ClaimedQuestion {
    pub(super) fn resolve(self, answer: AnswerResult) {
        self.job.answer(&self.key, answer);
    }
}

impl Drop for ClaimedQuestion {
    fn drop(&mut self) {
        let mut state = self.job.state.lock();
        if let Some(question) = state.open.iter_mut().find(|question| question.key == self.key) {
            question.claimed = false;
        }
        drop(state);
        // Another follower may claim the request.
        self.job.changes.send_modify(|times| *times += 1);
    }
}
