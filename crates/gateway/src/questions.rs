//! Questions of a server during a relayed call: passed from the host's side to whoever holds the call.

use switchboard_protocol::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, FromRaw, InputRequest,
    ListRootsResult, Raw, Root,
};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use crate::meta::relayed;

/// The questions that a client of the gateway may be able to answer. Whether it can is checked for each question.
pub(crate) const CAPABILITIES: HandlerCapabilities =
    HandlerCapabilities::none().with_forms().with_urls().with_sampling_tools().with_roots();

/// Questions of one call that may wait at the same time.
pub(crate) const MAX_QUESTIONS: usize = 64;

/// A question of a server.
pub(crate) struct Question {
    /// The key that the server gave it, if any.
    pub(crate) key: Option<String>,
    pub(crate) request: InputRequest,
    pub(crate) answer: oneshot::Sender<Result<Raw, HandlerError>>,
}

/// Passes the questions of one call on.
pub(crate) struct QuestionHandler {
    sender: mpsc::Sender<Question>,
}

impl QuestionHandler {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Question>) {
        let (sender, receiver) = mpsc::channel(MAX_QUESTIONS);
        (Self { sender }, receiver)
    }

    async fn ask(&self, request: InputRequest, asker: &RequestingServer) -> Result<Raw, HandlerError> {
        let (answer, answered) = oneshot::channel();
        let question = Question { key: asker.key.clone(), request: relayed_question(request), answer };
        self.sender
            .try_send(question)
            .map_err(|_| HandlerError::new(format!("more than {MAX_QUESTIONS} questions of one call")))?;
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
