//! A relayed call: the upstream call in progress, the questions that it waits for, and where its notices go.
//!
//! Nothing polls it while it is parked: it waits for an answer then. Dropping it cancels the upstream call.

use std::collections::HashSet;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_host::Run;
use switchboard_protocol::{InputRequest, LogMessage, ProgressParams, Raw, Revision, RpcError};
use switchboard_session::client::HandlerError;
use switchboard_session::link::BoxFuture;
use switchboard_session::server::RequestContext;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::active_calls::ActiveCall;
use crate::questions::{MAX_QUESTIONS, Question, too_many_of_call};
use crate::upstream_request::RequestPurpose;

/// The result of an upstream call.
pub(crate) struct UpstreamResult {
    pub(crate) raw: Raw,
    /// The revision it was encoded in.
    pub(crate) revision: Revision,
    /// The number of the session that it was received in.
    pub(crate) session: Option<u64>,
}

/// The future of an upstream call.
pub(crate) type UpstreamCall = BoxFuture<'static, Result<UpstreamResult, RpcError>>;

/// A relayed call.
pub(crate) struct Exchange {
    /// By which a retry finds it while it is parked; empty if it cannot be parked.
    pub(crate) id: String,
    /// What it was started for; a retry must be for the same.
    pub(crate) purpose: Option<RequestPurpose>,
    pub(crate) server: Arc<str>,
    /// The name of the tool, or the method; empty if it is not known.
    pub(crate) target: String,
    /// The run of the call; it knows the session.
    pub(crate) run: Run,
    call: UpstreamCall,
    questions: mpsc::Receiver<Box<Question>>,
    /// Questions without an answer.
    pub(crate) outstanding: Vec<OutstandingQuestion>,
    used_keys: HashSet<String>,
    pub(crate) notices: Arc<NoticeSink>,
}

/// A question that waits for its answer.
pub(crate) struct OutstandingQuestion {
    /// Unique within the call, over all its questions.
    pub(crate) key: String,
    pub(crate) request: InputRequest,
    answer: oneshot::Sender<Result<Raw, HandlerError>>,
}

impl Exchange {
    /// Creates the exchange of an upstream call, which cannot be parked.
    pub(crate) fn new(
        (server, run): (Arc<str>, Run),
        call: UpstreamCall,
        questions: mpsc::Receiver<Box<Question>>,
        notices: Arc<NoticeSink>,
    ) -> Self {
        let (id, outstanding, used_keys) = (String::new(), Vec::new(), HashSet::new());
        let target = String::new();
        Self { id, purpose: None, server, target, run, call, questions, outstanding, used_keys, notices }
    }

    /// Names what is called.
    pub(crate) fn with_target(mut self, target: String) -> Self {
        self.target = target;
        self
    }

    /// Gives it an id, so that it can be parked for retries with this purpose. The id is random and names the replica that holds the exchange.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub(crate) fn with_id(
        mut self,
        replica: &str,
        purpose: Option<RequestPurpose>,
    ) -> Result<Self, RpcError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| RpcError::internal(error.to_string()))?;
        self.id = format!("{:032x}@{replica}", u128::from_le_bytes(bytes));
        self.purpose = purpose;
        Ok(self)
    }

    /// Polls the upstream call; pending also when there are new questions, which are in `outstanding` then.
    pub(crate) fn poll(&mut self, task: &mut Context<'_>) -> Poll<Result<UpstreamResult, RpcError>> {
        let polled = self.call.as_mut().poll(task);
        if polled.is_pending() {
            while let Poll::Ready(Some(question)) = self.questions.poll_recv(task) {
                self.add(*question);
            }
            // The server has cancelled these questions.
            self.outstanding.retain_mut(|question| question.answer.poll_closed(task).is_pending());
        }
        polled
    }

    fn add(&mut self, Question { key, request, answer }: Question) {
        if self.outstanding.len() >= MAX_QUESTIONS {
            // The server may have cancelled the question.
            let _ = answer.send(Err(too_many_of_call()));
            return;
        }
        let number = self.used_keys.len();
        // A client matches answers by key: one that was used before would match the old answer.
        let key = key.filter(|key| !self.used_keys.contains(key)).unwrap_or_else(|| format!("q{number}"));
        let key = if self.used_keys.contains(&key) { format!("{key}-{number}") } else { key };
        self.used_keys.insert(key.clone());
        self.outstanding.push(OutstandingQuestion { key, request, answer });
    }

    /// Answers a question.
    pub(crate) fn answer(&mut self, key: &str, answer: Result<Raw, HandlerError>) {
        if let Some(at) = self.outstanding.iter().position(|question| question.key == key) {
            // The server may have cancelled the question.
            let _ = self.outstanding.swap_remove(at).answer.send(answer);
        }
    }
}

/// Sends progress and log messages of a call to the client that waits for it; drops them while none does.
pub(crate) struct NoticeSink {
    // Held for a clone or a swap, never across an await.
    state: Mutex<SinkState>,
    /// The call, as others see it; `None` if its messages are of no use to anyone.
    call: Option<ActiveCall>,
}

struct SinkState {
    client: Option<RequestContext>,
    last_progress: f64,
    /// When the client was last notified.
    last_at: Instant,
}

/// How much a progress notification of the gateway itself counts: less than any that a server sends.
const KEEP_ALIVE_STEP: f64 = 1e-6;

impl NoticeSink {
    pub(crate) fn new(call: Option<ActiveCall>) -> Self {
        let state = SinkState { client: None, last_progress: 0.0, last_at: Instant::now() };
        Self { state: Mutex::new(state), call }
    }

    /// Sets the request that the notices belong to; `None` while no request waits.
    pub(crate) fn attach(&self, client: Option<RequestContext>) {
        self.state.lock().client = client;
    }

    pub(crate) fn progress(&self, report: &ProgressParams) {
        let client = {
            let mut state = self.state.lock();
            state.last_progress = state.last_progress.max(report.progress);
            state.last_at = Instant::now();
            state.client.clone()
        };
        if let Some(client) = client {
            client.progress(report.progress, report.total, report.message.as_deref());
        }
    }

    /// Reports progress of the gateway itself after this much silence, so that the client does not give up. Returns when to
    /// call it again.
    pub(crate) fn keep_alive(&self, silence: Duration) -> Instant {
        let (client, progress) = {
            let mut state = self.state.lock();
            let now = Instant::now();
            if state.last_at + silence > now {
                return state.last_at + silence;
            }
            state.last_at = now;
            state.last_progress += KEEP_ALIVE_STEP;
            (state.client.clone(), state.last_progress)
        };
        if let Some(client) = client {
            client.progress(progress, None, Some("the server is still working"));
        }
        Instant::now() + silence
    }

    /// Notes that the server does not go on with the call.
    pub(crate) fn set_answered(&self) {
        self.call.iter().for_each(ActiveCall::set_answered);
    }

    /// Passes on a log message that may belong to any call on the server, if all of them are of one owner.
    pub(crate) fn shared_log(&self, message: LogMessage) {
        if self.call.as_ref().is_some_and(ActiveCall::takes_shared_log) {
            self.log(message);
        }
    }

    pub(crate) fn log(&self, message: LogMessage) {
        let client = self.state.lock().client.clone();
        if let Some(client) = client {
            client.log(message.level, message.logger.as_deref(), message.data);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use switchboard_protocol::{ElicitParams, FormSchema};
    use switchboard_session::client::{ClientHandler, RequestingServer};

    use super::*;
    use crate::questions::{MAX_QUESTIONS, QuestionHandler, QuestionScope};

    #[tokio::test(start_paused = true)]
    async fn the_questions_of_a_call_that_wait_are_bounded() {
        let server: Arc<str> = "server".into();
        let (calls, owner) = (Arc::default(), Arc::default());
        let scope = QuestionScope { calls, session: (Arc::clone(&server), None), owner, task: None };
        let (handler, questions) = QuestionHandler::new(scope);
        let handler = Arc::new(handler);
        let notices = Arc::new(NoticeSink::new(None));
        let mut exchange =
            Exchange::new((server, Run::new()), Box::pin(std::future::pending()), questions, notices);
        let mut asks = tokio::task::JoinSet::new();
        for _ in 0..MAX_QUESTIONS + 10 {
            let handler = Arc::clone(&handler);
            asks.spawn(async move {
                let question = ElicitParams::form("?", FormSchema::new());
                handler.elicit(question, &RequestingServer::new(None)).await
            });
            // Taken from the channel one by one, so that its own limit does not count.
            tokio::task::yield_now().await;
            assert!(exchange.poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert_eq!(exchange.outstanding.len(), MAX_QUESTIONS);
        for _ in 0..10 {
            let refused = asks.join_next().await.unwrap().unwrap().unwrap_err();
            assert!(refused.to_string().contains("the limit"), "{refused}");
        }
        let key = exchange.outstanding[0].key.clone();
        exchange.answer(&key, Ok(Raw::from(serde_json::json!({ "action": "decline" }))));
        assert!(asks.join_next().await.unwrap().unwrap().is_ok());
        assert_eq!((exchange.outstanding.len(), asks.len()), (MAX_QUESTIONS - 1, MAX_QUESTIONS - 1));
    }
}
