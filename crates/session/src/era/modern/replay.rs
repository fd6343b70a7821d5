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

use crate::era::modern::seal::{Answered, Carried, digest};
use crate::request::{AskError, Reply};

/// Where a request keeps its questions. Made for the first who asks: most requests never do.
#[derive(Debug, Default)]
pub(crate) struct Questions(OnceLock<Box<Asked>>);

impl Questions {
    /// With what a retry brings.
    pub(crate) fn resumed(asked: Asked) -> Self {
        Self(OnceLock::from(Box::new(asked)))
    }

    pub(crate) fn get(&self) -> &Asked {
        self.0.get_or_init(Box::default)
    }
}

/// The questions and answers of one call.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    carried: Carried,
    /// Answers that came with this retry, not yet matched to their question.
    fresh: switchboard_protocol::InputResponses,
    matching: Matching,
    asked: InputRequests,
    refused: Option<RpcError>,
    over: bool,
    driver: Option<Waker>,
    waiting: Vec<Waker>,
}

/// How the answers of a retry find their questions.
#[derive(Debug, Default, PartialEq, Eq)]
enum Matching {
    /// By what was asked under their key in the round before.
    #[default]
    Question,
    /// By their key: without a state nothing is known of the round before, and a client that keeps none may still answer.
    Key,
}

impl Asked {
    /// The answers of a retry, with what was carried through it; nothing was when it hands no state back.
    pub(crate) fn new(carried: Option<Carried>, fresh: switchboard_protocol::InputResponses) -> Self {
        let matching = if carried.is_some() { Matching::Question } else { Matching::Key };
        let carried = carried.unwrap_or_default();
        Self { state: Mutex::new(State { carried, fresh, matching, ..State::default() }) }
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
            if (was_asked || state.matching == Matching::Key)
                && let Some(answer) = state.fresh.get(key).cloned()
            {
                state.carried.answers.insert(key, Answered { question, answer: answer.clone() });
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
    pub(crate) async fn refuse(&self, error: RpcError) -> Result<Raw, AskError> {
        {
            let mut state = self.state.lock();
            state.refused.get_or_insert(error);
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
            if state.over {
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
        state.over = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// How one run of a handler ended.
pub(crate) enum Run {
    /// With a reply.
    Replied(Reply),
    /// With questions, and what to carry to the next run.
    Questions(InputRequests, Carried),
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

    fn asked(&self) -> &Asked {
        self.owner.as_ref().get()
    }
}

impl<A: AsRef<Questions> + Unpin> Future for Driver<A> {
    type Output = Run;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Run> {
        self.asked().state.lock().driver = Some(cx.waker().clone());
        if let Poll::Ready(reply) = self.handler.as_mut().poll(cx) {
            return Poll::Ready(Run::Replied(reply));
        }
        let mut state = self.asked().state.lock();
        if let Some(error) = state.refused.take() {
            return Poll::Ready(Run::Refused(error));
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
        Poll::Ready(Run::Questions(questions, carried))
    }
}

impl<A: AsRef<Questions>> Drop for Driver<A> {
    fn drop(&mut self) {
        self.asked().end();
    }
}
