//! Questions of tasks whose server asks with requests (2025-11-25), for owners that fetch questions with the state of the
//! task and answer with `tasks/update`.
//!
//! Such a server asks on the response of `tasks/result`. While a task requires input, that request is held open here, and its
//! questions wait for their answers. Bounded like parked calls: each takes room among them, and ends after their lifetime.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::{InputRequest, InputRequests, Raw};
use switchboard_session::client::HandlerError;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::exchange::Exchange;
use crate::parked::ParkedPermit;
use crate::questions::MAX_QUESTIONS;

/// How long a state of a task waits for the first question.
const FIRST_QUESTION_WAIT: Duration = Duration::from_millis(250);

/// The server of a task, the number of the session with it, and its id there.
pub(crate) type TaskKey = (Arc<str>, u64, String);

/// The answer to a question, by its key.
type KeyedAnswer = (String, Result<Raw, HandlerError>);

/// The held requests, by task.
#[derive(Default)]
pub(crate) struct TaskQuestions {
    // Held for a lookup or a change, never across an await.
    held: Arc<Mutex<HashMap<TaskKey, HeldTask>>>,
}

#[derive(Clone)]
struct HeldTask {
    answers: mpsc::Sender<KeyedAnswer>,
    questions: watch::Receiver<InputRequests>,
    task: AbortHandle,
}

impl TaskQuestions {
    /// Returns the questions of a task that is held; `None` if it is not.
    pub(crate) async fn get(&self, key: &TaskKey) -> Option<InputRequests> {
        let mut questions = self.held.lock().get(key)?.questions.clone();
        let first = questions.wait_for(|questions| !questions.is_empty());
        match tokio::time::timeout(FIRST_QUESTION_WAIT, first).await {
            Ok(Ok(questions)) => Some(questions.clone()),
            Ok(Err(_)) | Err(_) => Some(InputRequests::default()),
        }
    }

    /// Holds the request for the result of a task until it is answered, or the lifetime is over.
    pub(crate) fn hold(
        &self,
        key: TaskKey,
        exchange: Exchange,
        (permit, lifetime): (ParkedPermit, Duration),
    ) {
        let (answers, answered) = mpsc::channel(MAX_QUESTIONS);
        let (asked, questions) = watch::channel(InputRequests::default());
        let (table, own) = (Arc::downgrade(&self.held), key.clone());
        let mut held = self.held.lock();
        if held.contains_key(&key) {
            return;
        }
        // Ends by itself after the lifetime; aborted with the table.
        let task = tokio::spawn(async move {
            let _permit = permit;
            let _ = tokio::time::timeout(lifetime, run(exchange, answered, asked)).await;
            if let Some(table) = table.upgrade() {
                table.lock().remove(&own);
            }
        });
        held.insert(key, HeldTask { answers, questions, task: task.abort_handle() });
    }

    /// Answers a question. Answers to unknown questions are ignored.
    pub(crate) async fn answer(&self, key: &TaskKey, question: &str, answer: Result<Raw, HandlerError>) {
        let answers = self.held.lock().get(key).map(|held| held.answers.clone());
        if let Some(answers) = answers {
            // The task may have ended.
            let _ = answers.send((question.to_owned(), answer)).await;
        }
    }
}

impl Drop for TaskQuestions {
    fn drop(&mut self) {
        self.held.lock().values().for_each(|held| held.task.abort());
    }
}

/// Polls the request until its result: passes answers to it, and publishes the questions that are open.
async fn run(
    mut exchange: Exchange,
    mut answers: mpsc::Receiver<KeyedAnswer>,
    asked: watch::Sender<InputRequests>,
) {
    // Keys are unique for the whole life of a task, also if it is held again later.
    let generation: String = exchange.id.chars().take(8).collect();
    let shown = |key: &str| format!("{generation}-{key}");
    poll_fn(|task| {
        while let Poll::Ready(Some((key, answer))) = answers.poll_recv(task) {
            let known = exchange.outstanding.iter().find(|question| shown(&question.key) == key);
            if let Some(key) = known.map(|question| question.key.clone()) {
                exchange.answer(&key, answer);
            }
        }
        if exchange.poll(task).is_ready() {
            return Poll::Ready(());
        }
        let open = exchange.outstanding.iter();
        let open: Vec<(String, InputRequest)> =
            open.map(|question| (shown(&question.key), question.request.clone())).collect();
        asked.send_if_modified(|published| {
            let is_same =
                published.len() == open.len() && open.iter().all(|(key, _)| published.contains_key(key));
            if !is_same {
                *published = open.into_iter().collect();
            }
            !is_same
        });
        Poll::Pending
    })
    .await;
}
