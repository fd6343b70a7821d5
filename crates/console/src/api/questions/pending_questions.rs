//! The questions that wait for an answer.
//!
//! A question ends in one of three ways: the first valid answer, the end of the call that waits for it, or its deadline.
//! A later answer gets the error `question_closed`.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use super::answer::{CheckedAnswer, QuestionKind};
use crate::api::ConsoleState;
use crate::api::clock::unix_ms_now;
use crate::contract::{Answer, ApiError, ConsoleEvent, Question, QuestionBody, QuestionEnd};
use crate::events::EventLog;
use crate::traffic::{TrafficLog, ValueMask};

/// How long a question waits for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// How long a question waits while no page is open.
const UNATTENDED_TIMEOUT: Duration = Duration::from_secs(30);
/// How often it is checked whether a page is open.
const ATTENDANCE_CHECK: Duration = Duration::from_secs(1);
/// Questions that wait at once; further ones are declined.
const MAX_PENDING: usize = 64;

/// A call that waits for answers.
pub(crate) trait AskingCall: Send + Sync {
    /// Returns its number.
    fn number(&self) -> u64;
    /// Adds a question that it waits for.
    fn question_opened(&self, question: u64);
    /// Removes a question.
    fn question_closed(&self, question: u64);
}

/// The questions that wait for an answer.
pub(crate) struct PendingQuestions {
    page: OnceLock<PageLink>,
    timeouts: QuestionTimeouts,
    // Held while an event is published, so that the events of a question are in order.
    pending: Mutex<PendingTable>,
}

/// Where questions are shown.
struct PageLink {
    events: EventLog,
    /// Masks what servers ask.
    traffic: Arc<TrafficLog>,
    /// Knows the secrets of all servers. Weak: it owns the host, which owns the questions.
    console: Weak<ConsoleState>,
}

impl PageLink {
    fn value_mask(&self) -> ValueMask {
        // A server may have been added since the secrets were updated.
        match self.console.upgrade() {
            Some(console) => console.value_mask(),
            None => self.traffic.value_mask(),
        }
    }
}

/// How long questions wait.
#[derive(Clone, Copy, Debug)]
struct QuestionTimeouts {
    answer: Duration,
    unattended: Duration,
}

#[derive(Default)]
struct PendingTable {
    last: u64,
    questions: BTreeMap<u64, PendingQuestion>,
}

struct PendingQuestion {
    question: Question,
    kind: QuestionKind,
    answered: oneshot::Sender<CheckedAnswer>,
}

impl Default for PendingQuestions {
    fn default() -> Self {
        Self::with_timeouts(QuestionTimeouts { answer: ANSWER_TIMEOUT, unattended: UNATTENDED_TIMEOUT })
    }
}

impl PendingQuestions {
    fn with_timeouts(timeouts: QuestionTimeouts) -> Self {
        Self { page: OnceLock::new(), timeouts, pending: Mutex::default() }
    }

    /// Connects the questions to the page. Until then they are declined.
    pub(crate) fn connect(&self, events: EventLog, traffic: Arc<TrafficLog>, console: Weak<ConsoleState>) {
        // A second console of the same host shares the questions of the first.
        let _ = self.page.set(PageLink { events, traffic, console });
    }

    fn events(&self) -> Option<&EventLog> {
        self.page.get().map(|page| &page.events)
    }

    /// Returns the questions that wait, oldest first.
    pub(crate) fn snapshots(&self) -> Vec<Question> {
        self.pending.lock().questions.values().map(|pending| pending.question.clone()).collect()
    }

    /// Asks the page and waits for an answer; `None` after the timeout.
    ///
    /// # Cancellation
    /// Dropping the future closes the question.
    pub(super) async fn ask(
        &self,
        server: String,
        call: Option<Arc<dyn AskingCall>>,
        (kind, body): (QuestionKind, QuestionBody),
    ) -> Option<CheckedAnswer> {
        let page = self.page.get()?;
        let (events, body) = (&page.events, masked_body(body, &page.value_mask()));
        let (answered, mut answer) = oneshot::channel();
        let number = self.open(events, server, call.as_deref(), (kind, body), answered)?;
        if let Some(call) = &call {
            call.question_opened(number);
        }
        let mut guard = OpenQuestion { questions: self, events, number, call, end: QuestionEnd::Cancelled };
        let deadline = Instant::now() + self.timeouts.answer;
        let mut attended_at = Instant::now();
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return answer.ok(),
                () = sleep(ATTENDANCE_CHECK.min(self.timeouts.unattended)) => {}
            }
            let now = Instant::now();
            if events.has_readers() {
                attended_at = now;
            }
            if now >= deadline || now - attended_at >= self.timeouts.unattended {
                guard.end = QuestionEnd::Expired;
                return None;
            }
        }
    }

    fn open(
        &self,
        events: &EventLog,
        server: String,
        call: Option<&dyn AskingCall>,
        (kind, body): (QuestionKind, QuestionBody),
        answered: oneshot::Sender<CheckedAnswer>,
    ) -> Option<u64> {
        let mut pending = self.pending.lock();
        if pending.questions.len() >= MAX_PENDING {
            tracing::warn!(server, "question declined: {MAX_PENDING} questions wait for an answer already");
            return None;
        }
        pending.last += 1;
        let (number, asked_at_ms) = (pending.last, unix_ms_now());
        let answer_ms = u64::try_from(self.timeouts.answer.as_millis()).unwrap_or(u64::MAX);
        let question = Question {
            question: number,
            server,
            call: call.map(AskingCall::number),
            asked_at_ms,
            expires_at_ms: Some(asked_at_ms.saturating_add(answer_ms)),
            body,
        };
        events.publish(ConsoleEvent::Question { question: Box::new(question.clone()) });
        pending.questions.insert(number, PendingQuestion { question, kind, answered });
        Some(number)
    }

    /// Closes the questions of a call that has ended: its server may wait for an answer for longer.
    pub(crate) fn close_questions_of(&self, call: u64) {
        let mut pending = self.pending.lock();
        let of_call = pending.questions.extract_if(.., |_, open| open.question.call == Some(call));
        // Their senders are dropped, which ends the waiting.
        let closed: Vec<u64> = of_call.map(|(number, _)| number).collect();
        for question in closed {
            if let Some(events) = self.events() {
                events.publish(ConsoleEvent::QuestionClosed { question, reason: QuestionEnd::Cancelled });
            }
        }
    }

    /// Takes an answer of the page.
    ///
    /// # Errors
    /// `404 question_closed`, or `400 invalid_answer`: then the question stays open.
    pub(super) fn answer(&self, number: u64, answer: Answer) -> Result<(), ApiError> {
        let closed = || {
            ApiError::not_found("question_closed", format!("question {number} is closed"))
                .with_next_step("it was answered or cancelled, or it has expired; nothing was sent")
        };
        let mut pending = self.pending.lock();
        let open = pending.questions.get(&number).ok_or_else(closed)?;
        let checked = open.kind.check(answer).map_err(|problem| {
            ApiError::bad_request("invalid_answer", format!("the answer was not sent: {problem}"))
                .with_next_step("correct the answer and send it again")
        })?;
        let open = pending.questions.remove(&number).ok_or_else(closed)?;
        if let Some(events) = self.events() {
            events.publish(ConsoleEvent::QuestionClosed { question: number, reason: QuestionEnd::Answered });
        }
        // The call may have ended just now.
        open.answered.send(checked).map_err(|_| closed())
    }
}

/// Masks what is read only. A form and an address are sent back or opened: they stay as they are.
fn masked_body(body: QuestionBody, mask: &ValueMask) -> QuestionBody {
    let mask = |text| mask.mask(text);
    match body {
        QuestionBody::Form { message, schema_json } => {
            QuestionBody::Form { message: mask(message), schema_json }
        }
        QuestionBody::Url { message, url } => QuestionBody::Url { message: mask(message), url },
        QuestionBody::Sampling { params_json } => QuestionBody::Sampling { params_json: mask(params_json) },
        roots @ QuestionBody::Roots { .. } => roots,
    }
}

/// A question that waits; closes it when it is dropped without an answer.
struct OpenQuestion<'a> {
    questions: &'a PendingQuestions,
    events: &'a EventLog,
    number: u64,
    call: Option<Arc<dyn AskingCall>>,
    end: QuestionEnd,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        let mut pending = self.questions.pending.lock();
        if pending.questions.remove(&self.number).is_some() {
            let (question, reason) = (self.number, self.end);
            self.events.publish(ConsoleEvent::QuestionClosed { question, reason });
        }
        drop(pending);
        if let Some(call) = &self.call {
            call.question_closed(self.number);
        }
    }
}

impl std::fmt::Debug for PendingQuestions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pending = self.pending.lock().questions.len();
        f.debug_struct("PendingQuestions").field("pending", &pending).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use switchboard_host::Host;
    use switchboard_transport::stdio::Stdio;

    use super::*;
    use crate::api::{ConsoleHandler, ConsoleSettings};
    use crate::contract::ConsoleMode;
    use crate::providers::Providers;

    fn questions(answer: Duration, unattended: Duration) -> (PendingQuestions, EventLog) {
        let (questions, events) =
            (PendingQuestions::with_timeouts(QuestionTimeouts { answer, unattended }), EventLog::default());
        questions.connect(events.clone(), Arc::default(), Weak::new());
        (questions, events)
    }

    fn page() -> (QuestionKind, QuestionBody) {
        let body = QuestionBody::Url { message: "Log in".to_owned(), url: "https://example.org/".to_owned() };
        (QuestionKind::Url, body)
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_is_declined_when_no_page_is_open() {
        let (questions, events) = questions(ANSWER_TIMEOUT, UNATTENDED_TIMEOUT);
        let began = Instant::now();
        assert!(questions.ask("s".to_owned(), None, page()).await.is_none());
        let took = began.elapsed();
        assert!(took >= UNATTENDED_TIMEOUT && took < UNATTENDED_TIMEOUT * 2, "{took:?}");
        assert!(questions.snapshots().is_empty());
        assert_eq!(events.sequence(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn the_secrets_of_a_server_that_was_added_later_are_masked() {
        let (host, handler) = (Host::new(), ConsoleHandler::new());
        let settings = ConsoleSettings {
            mode: ConsoleMode::Host,
            read_only: false,
            allow_config_edit: false,
            started_at_ms: 0,
        };
        let console =
            ConsoleState::new(host.clone(), settings, Arc::default(), Providers::default(), &handler);
        host.add("late", Stdio::new("/nowhere/program").env("API_KEY", "sesame-open")).unwrap();
        let body = QuestionBody::Url { message: "Is it sesame-open?".to_owned(), url: String::new() };
        let question = tokio::select! {
            biased;
            _ = handler.questions().ask("late".to_owned(), None, (QuestionKind::Url, body)) => None,
            question = async { handler.questions().snapshots().pop() } => question,
        };
        let body = question.expect("the question is open").body;
        assert!(matches!(&body, QuestionBody::Url { message, .. } if message == "Is it •••?"), "{body:?}");
        drop(console);
    }

    struct Call;

    impl AskingCall for Call {
        fn number(&self) -> u64 {
            7
        }

        fn question_opened(&self, _: u64) {}

        fn question_closed(&self, _: u64) {}
    }

    #[tokio::test(start_paused = true)]
    async fn the_questions_of_an_ended_call_are_closed() {
        let (questions, events) = questions(ANSWER_TIMEOUT, UNATTENDED_TIMEOUT);
        let asking = questions.ask("s".to_owned(), Some(Arc::new(Call)), page());
        let ending = async {
            questions.close_questions_of(6);
            assert_eq!(questions.snapshots().len(), 1);
            questions.close_questions_of(7);
            assert!(questions.snapshots().is_empty());
        };
        let (answer, ()) = tokio::join!(asking, ending);
        assert!(answer.is_none());
        assert_eq!(events.sequence(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_expires_although_a_page_is_open() {
        let (questions, events) = questions(Duration::from_secs(60), UNATTENDED_TIMEOUT);
        let _reader = events.reader(None);
        let began = Instant::now();
        assert!(questions.ask("s".to_owned(), None, page()).await.is_none());
        assert!(began.elapsed() >= Duration::from_secs(60));
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_answer_wins_and_an_invalid_one_leaves_the_question_open() {
        let (questions, _events) = questions(ANSWER_TIMEOUT, UNATTENDED_TIMEOUT);
        let asking = questions.ask("s".to_owned(), None, page());
        let answering = async {
            let number = questions.snapshots()[0].question;
            let invalid = questions.answer(number, Answer::Roots { roots: Vec::new() });
            assert_eq!(invalid.unwrap_err().code, "invalid_answer");
            questions.answer(number, Answer::Decline).unwrap();
            let late = questions.answer(number, Answer::Accept { content_json: None });
            assert_eq!(late.unwrap_err().code, "question_closed");
        };
        let (answer, ()) = tokio::join!(asking, answering);
        assert!(matches!(answer, Some(CheckedAnswer::Elicited(_))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_question_is_closed() {
        let (questions, events) = questions(ANSWER_TIMEOUT, UNATTENDED_TIMEOUT);
        let asking = questions.ask("s".to_owned(), None, page());
        assert!(tokio::time::timeout(Duration::from_millis(10), asking).await.is_err());
        assert!(questions.snapshots().is_empty());
        assert_eq!(events.sequence(), 2, "opened and closed");
    }
}
