//! A task while it runs: where it stands, what it asks, and who waits for that to change.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::{
    DetailedTask, InputRequest, InputRequests, Raw, RpcError, ServerResult, Task, TaskStatus,
};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{AskError, Asks, Caller, Reply, RequestContext};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::{TaskRecord, clock};

/// A task while it runs.
pub(super) struct Job {
    pub(super) owner: Option<String>,
    /// Whom it is counted against.
    client: Option<String>,
    /// The request it came of.
    pub(super) cx: RequestContext,
    pub(super) until: Instant,
    // Held for a look or a change, never across an await.
    state: Mutex<State>,
    /// Counts the changes.
    changes: watch::Sender<u64>,
}

struct State {
    task: Task,
    end: Option<Result<Raw, RpcError>>,
    /// Questions without an answer, in the order they were asked.
    open: Vec<Question>,
    /// Every question so far by its key, with the answer where there is one.
    known: HashMap<String, (InputRequest, Option<Raw>)>,
}

struct Question {
    key: String,
    request: InputRequest,
    /// Whether somebody puts it to the client now.
    taken: bool,
    answer: oneshot::Sender<Result<Raw, AskError>>,
}

/// How many questions one task may ask in all.
const MOST_QUESTIONS: usize = 1000;

impl Job {
    pub(super) fn new(id: String, cx: RequestContext, ttl: Duration, poll_interval: Duration) -> Self {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let task =
            Task::new(id, clock::now()).with_ttl_ms(millis(ttl)).with_poll_interval_ms(millis(poll_interval));
        let state = State { task, end: None, open: Vec::new(), known: HashMap::new() };
        Self {
            owner: cx.owner(),
            client: client(&cx),
            cx,
            until: Instant::now() + ttl,
            state: Mutex::new(state),
            changes: watch::Sender::new(0),
        }
    }

    pub(super) fn record(&self) -> TaskRecord {
        let state = self.state.lock();
        let mut detailed = DetailedTask::new(state.task.clone());
        match &state.end {
            Some(Ok(result)) => detailed.result = Some(result.clone()),
            Some(Err(error)) => detailed.error = Some(error.clone()),
            None if state.open.is_empty() => {}
            None => {
                let asked = state.open.iter().map(|asked| (asked.key.clone(), asked.request.clone()));
                detailed.input_requests = Some(asked.collect::<InputRequests>());
            }
        }
        TaskRecord::new(self.owner.clone(), detailed).with_client(self.client.clone())
    }

    /// How long it is still kept.
    pub(super) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Waits until nobody can come back for it: its time is up, or it was its session's alone and that is over.
    pub(super) async fn given_up(&self) {
        let orphaned = async {
            match self.cx.caller() {
                Some(_) => std::future::pending().await,
                None => self.cx.session_ended().await,
            }
        };
        // A session that is over is as good as time that is up.
        let _ = tokio::time::timeout_at(self.until, orphaned).await;
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Changes it, unless it is over; says whether it was.
    fn change(&self, change: impl FnOnce(&mut State)) -> bool {
        let mut state = self.state.lock();
        if state.task.status.is_terminal() {
            return true;
        }
        change(&mut state);
        if !state.task.status.is_terminal() {
            let asks = !state.open.is_empty();
            state.task.status = if asks { TaskStatus::InputRequired } else { TaskStatus::Working };
        } else {
            // Whoever still waits for an answer is dropped with the work.
            state.open.clear();
        }
        state.task.last_updated_at = clock::now();
        drop(state);
        self.changes.send_modify(|times| *times += 1);
        false
    }

    /// The work is done.
    pub(super) fn finish(&self, reply: Reply) {
        let end = reply.and_then(|result| written(result, &self.cx));
        self.change(|state| {
            state.task.status = if end.is_ok() { TaskStatus::Completed } else { TaskStatus::Failed };
            state.task.status_message = end.as_ref().err().map(|error| error.message.clone());
            state.end = Some(end);
        });
    }

    /// Cancels it; says whether it was over already.
    pub(super) fn cancel(&self) -> bool {
        let was_over = self.change(|state| state.task.status = TaskStatus::Cancelled);
        if !was_over {
            self.cx.end();
        }
        was_over
    }

    /// The client has answered a question. What was not asked, or was answered, is passed over.
    pub(super) fn answer(&self, key: &str, answer: Result<Raw, AskError>) {
        let is_open = |state: &State| state.open.iter().position(|asked| asked.key == key);
        if is_open(&self.state.lock()).is_none() {
            return;
        }
        self.change(|state| {
            let Some(at) = is_open(state) else { return };
            let asked = state.open.remove(at);
            if let (Ok(answer), Some(known)) = (&answer, state.known.get_mut(key)) {
                known.1 = Some(answer.clone());
            }
            // Whoever asked may have gone on without it.
            let _ = asked.answer.send(answer);
        });
    }

    /// A question that nobody puts to the client yet, for whoever does now.
    pub(super) fn take_question(self: &Arc<Self>) -> Option<Taken> {
        let mut state = self.state.lock();
        let question = state.open.iter_mut().find(|asked| !asked.taken)?;
        question.taken = true;
        Some(Taken { job: Arc::clone(self), key: question.key.clone(), request: question.request.clone() })
    }

    fn ask(self: &Arc<Self>, key: &str, request: InputRequest) -> Result<Waiting, Answered> {
        let (answer, answered) = oneshot::channel();
        let mut asked_as = None;
        let mut known_answer = None;
        self.change(|state| {
            // On the wire a key stands for one question, however often the method uses it.
            let mut own = key.to_owned();
            let mut times = 1;
            while let Some((known, given)) = state.known.get(&own) {
                if *known == request {
                    known_answer.clone_from(given);
                    if known_answer.is_some() {
                        return;
                    }
                }
                times += 1;
                own = format!("{key}#{times}");
            }
            if state.known.len() >= MOST_QUESTIONS {
                return;
            }
            state.known.insert(own.clone(), (request.clone(), None));
            state.open.push(Question { key: own.clone(), request, taken: false, answer });
            asked_as = Some(own);
        });
        match (known_answer, asked_as) {
            (Some(answer), _) => Err(Ok(answer)),
            (None, Some(key)) => Ok(Waiting { job: Arc::clone(self), key, answered }),
            (None, None) => Err(Err(AskError::Invalid("this task has asked too much, or is over".into()))),
        }
    }
}

/// Whom a request is counted against: its caller, or else the address it came from.
fn client(cx: &RequestContext) -> Option<String> {
    #[cfg(any(feature = "http", feature = "rpc"))]
    if cx.caller().is_none() {
        use switchboard_transport::http::server::ClientAddress;
        return cx.extension::<ClientAddress>().map(ToString::to_string);
    }
    cx.caller().map(Caller::principal)
}

type Answered = Result<Raw, AskError>;

/// The text of what a call came to, as its revision has it.
fn written(mut result: ServerResult, cx: &RequestContext) -> Result<Raw, RpcError> {
    result.lower(cx.revision());
    Raw::encode(&result).map_err(|error| RpcError::internal(error.to_string()))
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("status", &self.state.lock().task.status).finish_non_exhaustive()
    }
}

/// How the work of a job asks.
///
/// Weak: the job holds the context of the request, and that holds this.
pub(super) struct Questions(pub(super) Weak<Job>);

impl Asks for Questions {
    fn ask(&self, key: &str, request: InputRequest) -> BoxFuture<'static, Answered> {
        let Some(job) = self.0.upgrade() else { return Box::pin(async { Err(AskError::Gone) }) };
        match job.ask(key, request) {
            Ok(mut waiting) => Box::pin(async move {
                let answered = (&mut waiting.answered).await;
                answered.unwrap_or(Err(AskError::Gone))
            }),
            Err(answered) => Box::pin(async { answered }),
        }
    }
}

/// Waits for an answer. Dropping it takes the question back.
struct Waiting {
    job: Arc<Job>,
    key: String,
    answered: oneshot::Receiver<Answered>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.job.answer(&self.key, Err(AskError::Gone));
    }
}

/// A question that somebody puts to the client. Dropped without an answer, it can be taken again.
pub(super) struct Taken {
    job: Arc<Job>,
    key: String,
    pub(super) request: InputRequest,
}

impl Taken {
    pub(super) fn answered(self, answer: Answered) {
        self.job.answer(&self.key, answer);
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut state = self.job.state.lock();
        if let Some(question) = state.open.iter_mut().find(|asked| asked.key == self.key) {
            question.taken = false;
        }
        drop(state);
        // Whoever waits for a question may take this one.
        self.job.changes.send_modify(|times| *times += 1);
    }
}
