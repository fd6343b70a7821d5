//! Questions of a server during a relayed call: passed from the host's side to whoever holds the call.

use std::sync::Arc;

use switchboard_protocol::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, FromRaw, InputRequest,
    ListRootsResult, Meta, Raw, Root,
};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use crate::active_calls::{ActiveCalls, CallOwner, CallSession};
use crate::meta::relayed;

/// The questions that a client of the gateway may be able to answer. Whether it can is checked for each question.
pub(crate) const CAPABILITIES: HandlerCapabilities =
    HandlerCapabilities::none().with_forms().with_urls().with_sampling_tools().with_roots();

/// Questions of one call that may wait at the same time.
pub(crate) const MAX_QUESTIONS: usize = 64;

/// The refusal of a question beyond that.
pub(crate) fn too_many_of_call() -> HandlerError {
    HandlerError::new(format!(
        "{MAX_QUESTIONS} questions of this call wait for an answer already, which is the limit\nAsk again when some are answered."
    ))
}

/// A question of a server.
pub(crate) struct Question {
    /// The key that the server gave it, if any.
    pub(crate) key: Option<String>,
    pub(crate) request: InputRequest,
    pub(crate) answer: oneshot::Sender<Result<Raw, HandlerError>>,
}

/// What the questions of a call may belong to.
pub(crate) struct QuestionScope {
    pub(crate) calls: Arc<ActiveCalls>,
    pub(crate) session: CallSession,
    pub(crate) owner: Arc<CallOwner>,
    /// The task whose result the call waits for, by its id on the server.
    pub(crate) task: Option<String>,
}

impl QuestionScope {
    /// Returns whether a question is of the call, or else of work of the same caller.
    fn includes(&self, question: &InputRequest, asker: &RequestingServer) -> bool {
        asker.names_call()
            || (self.task.is_some() && related_task(question) == self.task)
            || self.calls.may_ask(&self.session, &self.owner)
    }
}

/// Returns the id of the task that a question names.
fn related_task(question: &InputRequest) -> Option<String> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct RelatedTask {
        task_id: String,
    }
    let meta = match question {
        InputRequest::Elicit(params) => match &**params {
            ElicitParams::Form(form) => form.meta.as_ref(),
            ElicitParams::Url(url) => url.meta.as_ref(),
            _ => None,
        },
        InputRequest::Sample(params) => params.meta.as_ref(),
        _ => None,
    };
    let task: RelatedTask = meta?.get(Meta::RELATED_TASK)?.decode().ok()?;
    Some(task.task_id)
}

/// Passes the questions of one call on.
pub(crate) struct QuestionHandler {
    scope: QuestionScope,
    // Boxed: a channel has room for 32 questions from the start, and most calls ask none.
    sender: mpsc::Sender<Box<Question>>,
}

impl QuestionHandler {
    pub(crate) fn new(scope: QuestionScope) -> (Self, mpsc::Receiver<Box<Question>>) {
        let (sender, receiver) = mpsc::channel(MAX_QUESTIONS);
        (Self { scope, sender }, receiver)
    }

    async fn ask(&self, request: InputRequest, asker: &RequestingServer) -> Result<Raw, HandlerError> {
        if !self.scope.includes(&request, asker) {
            return Err(HandlerError::ambiguous_caller(
                "a cancelled call or a task of another caller may still be running, so the request is ambiguous\nAsk on the \
                 response stream of the call, or share the server per principal.",
            ));
        }
        let (answer, answered) = oneshot::channel();
        let question = Question { key: asker.key.clone(), request: relayed_question(request), answer };
        self.sender.try_send(Box::new(question)).map_err(|_| too_many_of_call())?;
        answered.await.unwrap_or_else(|_| Err(HandlerError::new("the call was cancelled")))
    }
}

impl ClientHandler for QuestionHandler {
    fn capabilities(&self) -> HandlerCapabilities {
        CAPABILITIES
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async move { decode(&self.ask(request.into(), asker).await?) })
    }

    fn sample<'a>(
        &'a self,
        request: CreateMessageParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(async move { decode(&self.ask(request.into(), asker).await?) })
    }

    fn roots<'a>(
        &'a self,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<Option<Vec<Root>>, HandlerError>> {
        Box::pin(async move {
            let answer = self.ask(InputRequest::Roots(Default::default()), asker).await?;
            decode::<ListRootsResult>(&answer).map(|result| Some(result.roots))
        })
    }
}

/// Returns a question without what describes the hop it came over.
pub(crate) fn relayed_question(mut question: InputRequest) -> InputRequest {
    match &mut question {
        InputRequest::Elicit(params) => match &mut **params {
            ElicitParams::Form(form) => (form.meta, form.task) = (relayed(form.meta.take()), None),
            ElicitParams::Url(url) => (url.meta, url.task) = (relayed(url.meta.take()), None),
            _ => {}
        },
        InputRequest::Sample(params) => (params.meta, params.task) = (relayed(params.meta.take()), None),
        _ => {}
    }
    question
}

fn decode<T: FromRaw>(answer: &Raw) -> Result<T, HandlerError> {
    T::from_raw(answer)
        .map_err(|error| HandlerError::new(format!("the client's answer is not valid: {error}")))
}
