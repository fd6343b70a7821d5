//! Answers the questions of a server with recorded answers.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;
use switchboard_protocol::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, FromRaw, InputRequest, Raw, Root,
};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;

use crate::conversation::{RecordedQuestion, request_summary};

/// The questions of the exchange under way.
#[derive(Debug, Default)]
pub(super) struct RecordedAnswers(Mutex<AnswerQueue>);

#[derive(Debug, Default)]
struct AnswerQueue {
    /// Recorded and not asked yet.
    questions: Vec<RecordedQuestion>,
    /// Asked and not recorded.
    unexpected: Vec<Value>,
}

impl RecordedAnswers {
    /// Starts an exchange.
    pub(super) fn start(&self, questions: Vec<RecordedQuestion>) {
        *self.0.lock() = AnswerQueue { questions, unexpected: Vec::new() };
    }

    /// Ends the exchange: returns the questions that were not asked, and those that were not recorded.
    pub(super) fn finish(&self) -> (Vec<Value>, Vec<Value>) {
        let AnswerQueue { questions, unexpected } = std::mem::take(&mut *self.0.lock());
        // Only a question that was answered was certainly meant for this exchange.
        let answered = questions.iter().filter(|question| question.answer.is_some());
        (answered.map(|question| summary(&question.method, question.params.as_ref())).collect(), unexpected)
    }

    fn answer<T: FromRaw>(&self, request: &InputRequest) -> Result<T, HandlerError> {
        let asked: Value = Raw::encode(request)
            .ok()
            .and_then(|raw| serde_json::from_str(raw.as_str()).ok())
            .unwrap_or_default();
        let mut queue = self.0.lock();
        let of_method = |question: &&RecordedQuestion| question.method == request.method();
        // The question with the same message, else the first of its kind.
        let message = |params: Option<&Value>| params.and_then(|params| params.get("message")).cloned();
        let wanted = message(asked.get("params"));
        let same = queue
            .questions
            .iter()
            .position(|question| of_method(&question) && message(question.params.as_ref()) == wanted)
            .or_else(|| queue.questions.iter().position(|question| of_method(&question)));
        let Some(position) = same else {
            queue.unexpected.push(summary(request.method(), asked.get("params")));
            return Err(HandlerError::new("the recording has no such question"));
        };
        match queue.questions.remove(position).answer {
            Some(Ok(answer)) => {
                T::from_raw(&Raw::from(answer)).map_err(|error| HandlerError::new(error.to_string()))
            }
            Some(Err(error)) => Err(HandlerError::new(error.message)),
            None => Err(HandlerError::new("the recording has no answer to this question")),
        }
    }
}

fn summary(method: &str, params: Option<&Value>) -> Value {
    request_summary(method, params.unwrap_or(&Value::Null)).into()
}

/// Handler of the session of a test.
#[derive(Debug, Clone)]
pub(super) struct AnswerHandler {
    pub(super) answers: Arc<RecordedAnswers>,
    pub(super) capabilities: HandlerCapabilities,
}

impl ClientHandler for AnswerHandler {
    fn capabilities(&self) -> HandlerCapabilities {
        self.capabilities
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async { self.answers.answer(&InputRequest::from(request)) })
    }

    fn sample<'a>(
        &'a self,
        request: CreateMessageParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(async { self.answers.answer(&InputRequest::from(request)) })
    }

    fn roots<'a>(
        &'a self,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<Option<Vec<Root>>, HandlerError>> {
        Box::pin(async {
            let answer: Raw = self.answers.answer(&InputRequest::Roots(Default::default()))?;
            let roots = answer.fields().find(|(name, _)| *name == "roots").map(|(_, roots)| roots);
            Ok(roots.and_then(|roots| Vec::<Root>::from_raw(&roots).ok()))
        })
    }
}
