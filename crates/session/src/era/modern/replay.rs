//! Asking from inside a handler when the protocol has no way to ask: park, drop, and run again with the answers.
//!
//! The handler asks and waits. The driver sees that it waits for an answer it does not have, drops it, and answers
//! the request with the questions. The client's retry brings the answers, and the handler runs again from the top.
//! Nothing travels through the author's error type, so nothing in their code can swallow it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use switchboard_protocol::{InputRequest, InputRequests, Raw, RpcError};

use crate::era::modern::seal::{CarriedState, RecordedAnswer, digest};
use crate::request::{AskError, Reply};

/// Where a request keeps its questions. Made for the first who asks: most requests never do.
#[derive(Debug, Default)]
pub(crate) struct Questions(OnceLock<Box<Replay>>);

impl Questions {
    /// With what a retry brings.
    pub(crate) fn with_answers(asked: Replay) -> Self {
        Self(OnceLock::from(Box::new(asked)))
    }

    pub(crate) fn get(&self) -> &Replay {
        self.0.get_or_init(Box::default)
    }
}

/// The questions and answers of one call.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    state: Mutex<ReplayState>,
}

#[derive(Debug, Default)]
struct ReplayState {
    carried: CarriedState,
    /// Answers that came with this retry, not yet matched to their question.
    fresh: switchboard_protocol::InputResponses,
    matching: AnswerMatching,
    asked: InputRequests,
    rejection: Option<RpcError>,
    is_over: bool,
    driver: Option<Waker>,
    waiting: Vec<Waker>,
}

/// How the answers of a retry find their questions.
#[derive(Debug, Default, PartialEq, Eq)]
enum AnswerMatching {
    /// By what was asked under their key in the round before.
    #[default]
    Question,
    /// By their key: without a state nothing is known of the round before, and a client that keeps none may still answer.
    Key,
}

impl Replay {
    /// The answers of a retry, with what was carried through it; nothing was when it hands no state back.
    pub(crate) fn new(carried: Option<CarriedState>, fresh: switchboard_protocol::InputResponses) -> Self {
        let matching = if carried.is_some() { AnswerMatching::Question } else { AnswerMatching::Key };
        let carried = carried.unwrap_or_default();
        Self { state: Mutex::new(ReplayState { carried, fresh, matching, ..ReplayState::default() }) }
    }

    /// The answer to a question, if it is there; else the call parks here and is dropped.
    pub(crate) async fn ask(&self, key: &str, request: InputRequest) -> Result<Raw, AskError> {
        let text = Raw::encode(&request).map_err(|error| AskError::Invalid(error.to_string()))?;
        let question = digest(text.as_str());
        {
            let mut state = self.state.lock();
            // An answer counts for the question it was given to: if the text has changed, it is asked again.
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

    /// Ends the call with this error, from wherever it waits.
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

    /// Waits for what never comes: the handler is dropped here. Only a task that outlives it gets an error.
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

    /// The result of a step, if it was taken in an earlier round.
    pub(crate) fn step(&self, key: &str) -> Option<Raw> {
        self.state.lock().carried.steps.get(key).cloned()
    }

    /// Remembers the result of a step.
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

/// How one run of a handler ended.
pub(crate) enum RunOutcome {
    /// With a reply.
    Replied(Reply),
    /// With questions, and what to carry to the next run.
    Questions(InputRequests, CarriedState),
    /// It may not ask what it asked.
    Refused(RpcError),
}

/// Runs a handler until it replies or waits for an answer it does not have.
pub(crate) struct Driver<A: AsRef<Questions>> {
    handler: Pin<Box<dyn Future<Output = Reply> + Send>>,
    owner: A,
}

impl<A: AsRef<Questions>> Driver<A> {
    /// `owner` holds the questions, and the handler knows it.
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
        if state.asked.is_empty() {
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
