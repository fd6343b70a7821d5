//! Input requests from inside a handler, by replay: the modern era has no requests from server to client.
//!
//! The handler asks and awaits the answer. The driver sees that it waits for an answer that is missing, drops it, and
//! responds with the input requests. The client retries with the answers, and the handler runs again from the top.
//! Nothing is passed through the handler's error type, so its code cannot swallow it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use switchboard_protocol::{InputRequest, InputRequests, Raw, RpcError};

use crate::era::modern::seal::{CarriedState, RecordedAnswer, RelayedState, digest};
use crate::request::{AskError, Reply};

/// The lazily created replay state of a request: most requests never ask for input.
#[derive(Debug, Default)]
pub(crate) struct Questions(OnceLock<Box<Replay>>);

impl Questions {
    /// Creates the state of a retry.
    pub(crate) fn with_answers(asked: Replay) -> Self {
        Self(OnceLock::from(Box::new(asked)))
    }

    pub(crate) fn get(&self) -> &Replay {
        self.0.get_or_init(Box::default)
    }
}

/// The questions and answers of one request across its retries.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    state: Mutex<ReplayState>,
}

#[derive(Debug, Default)]
struct ReplayState {
    carried: CarriedState,
    /// Answers of this retry, not yet matched to their questions.
    fresh: switchboard_protocol::InputResponses,
    matching: AnswerMatching,
    asked: InputRequests,
    /// Whether the questions are those of another server, which may be none: then the client just retries.
    is_relaying: bool,
    rejection: Option<RpcError>,
    is_over: bool,
    driver: Option<Waker>,
    waiting: Vec<Waker>,
}

/// How the answers of a retry are matched to questions.
#[derive(Debug, Default, PartialEq, Eq)]
enum AnswerMatching {
    /// By the digest of the question asked under their key in the round before.
    #[default]
    Question,
    /// By their key: the retry of a client that sends no state back has no digests.
    Key,
}

impl Replay {
    /// Creates the replay of a retry, with the state that it sends back, if any.
    pub(crate) fn new(carried: Option<CarriedState>, fresh: switchboard_protocol::InputResponses) -> Self {
        let matching = if carried.is_some() { AnswerMatching::Question } else { AnswerMatching::Key };
        let carried = carried.unwrap_or_default();
        Self { state: Mutex::new(ReplayState { carried, fresh, matching, ..ReplayState::default() }) }
    }

    /// Returns the answer to a question if there is one; otherwise waits here until the handler is dropped.
    pub(crate) async fn ask(&self, key: &str, request: InputRequest) -> Result<Raw, AskError> {
        let text = Raw::encode(&request).map_err(|error| AskError::Invalid(error.to_string()))?;
        let question = digest(text.as_str());
        {
            let mut state = self.state.lock();
            // An answer is valid for its question only: if the text has changed, it is asked again.
            if let Some(known) = state.carried.answers.get(key).filter(|known| known.question == question) {
                return Ok(known.answer.clone());
            }
            let was_asked = state.carried.asked.get(key).is_some_and(|asked| *asked == question);
            if (was_asked || state.matching == AnswerMatching::Key)
                && let Some(answer) = state.fresh.get(key).cloned()
            {
                state.carried.answers.insert(key, RecordedAnswer { question, answer: answer.clone() });
                return Ok(answer);
            }
            if let Some(other) = state.asked.get(key)
                && *other != request
            {
                return Err(AskError::Invalid(format!(
                    "the key {key:?} was used for another question already"
                )));
            }
            state.asked.insert(key, request);
            let driver = state.driver.take();
            drop(state);
            driver.inspect(Waker::wake_by_ref);
        }
        self.park().await
    }

    /// Answers the request with the questions and the state of another server.
    pub(crate) async fn relay(
        &self,
        questions: InputRequests,
        state: Option<String>,
    ) -> Result<Raw, AskError> {
        {
            let mut replay = self.state.lock();
            replay.carried.relayed = Some(RelayedState { state });
            replay.asked = questions;
            replay.is_relaying = true;
            let driver = replay.driver.take();
            drop(replay);
            driver.inspect(Waker::wake_by_ref);
        }
        self.park().await
    }

    /// Returns the answers to relayed questions, and the state that came with the questions. Also the answers of a client that
    /// sends no state back.
    pub(crate) fn relayed_answers(&self) -> Option<(switchboard_protocol::InputResponses, Option<String>)> {
        let state = self.state.lock();
        match &state.carried.relayed {
            Some(relayed) => Some((state.fresh.clone(), relayed.state.clone())),
            None if state.matching == AnswerMatching::Key && !state.fresh.is_empty() => {
                Some((state.fresh.clone(), None))
            }
            None => None,
        }
    }

    /// Ends the request with this error.
    pub(crate) async fn reject(&self, error: RpcError) -> Result<Raw, AskError> {
        {
            let mut state = self.state.lock();
            state.rejection.get_or_insert(error);
            let driver = state.driver.take();
            drop(state);
            driver.inspect(Waker::wake_by_ref);
        }
        self.park().await
    }

    /// Waits forever: the handler is dropped here. Only a task that outlives the handler gets an error.
    async fn park(&self) -> Result<Raw, AskError> {
        poll_fn(|cx| {
            let mut state = self.state.lock();
            if state.is_over {
                return Poll::Ready(Err(AskError::Suspended));
            }
            state.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Returns the result of a step that was run in an earlier round.
    pub(crate) fn step(&self, key: &str) -> Option<Raw> {
        self.state.lock().carried.steps.get(key).cloned()
    }

    /// Stores the result of a step.
    pub(crate) fn remember(&self, key: &str, result: Raw) {
        self.state.lock().carried.steps.insert(key, result);
    }

    fn end(&self) {
        let mut state = self.state.lock();
        state.is_over = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// The outcome of one run of a handler.
pub(crate) enum RunOutcome {
    /// The reply.
    Replied(Reply),
    /// Questions, and the state to carry to the next run.
    Questions(InputRequests, CarriedState),
    /// The handler asked a question that it may not ask.
    Refused(RpcError),
}

/// Runs a handler until it replies or waits for an answer that is missing.
pub(crate) struct Driver<A: AsRef<Questions>> {
    handler: Pin<Box<dyn Future<Output = Reply> + Send>>,
    owner: A,
}

impl<A: AsRef<Questions>> Driver<A> {
    /// Creates a driver. `owner` holds the questions of the handler.
    pub(crate) fn new(handler: Pin<Box<dyn Future<Output = Reply> + Send>>, owner: A) -> Self {
        Self { handler, owner }
    }

    fn replay(&self) -> &Replay {
        self.owner.as_ref().get()
    }
}

impl<A: AsRef<Questions> + Unpin> Future for Driver<A> {
    type Output = RunOutcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<RunOutcome> {
        self.replay().state.lock().driver = Some(cx.waker().clone());
        if let Poll::Ready(reply) = self.handler.as_mut().poll(cx) {
            return Poll::Ready(RunOutcome::Replied(reply));
        }
        let mut state = self.replay().state.lock();
        if let Some(error) = state.rejection.take() {
            return Poll::Ready(RunOutcome::Refused(error));
        }
        if state.asked.is_empty() && !state.is_relaying {
            return Poll::Pending;
        }
        let questions = std::mem::take(&mut state.asked);
        let mut carried = state.carried.clone();
        carried.asked = questions
            .iter()
            .filter_map(|(key, request)| Some((key.to_owned(), digest(Raw::encode(request).ok()?.as_str()))))
            .collect();
        Poll::Ready(RunOutcome::Questions(questions, carried))
    }
}

impl<A: AsRef<Questions>> Drop for Driver<A> {
    fn drop(&mut self) {
        self.replay().end();
    }
}
