//! Handler of the requests of servers: puts them to the page.

use std::sync::{Arc, Weak};

use switchboard_host::HostBuilder;
use switchboard_protocol::{
    CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams, ElicitResult, Root,
};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;

use super::answer::{CheckedAnswer, QuestionKind};
use super::pending_questions::{AskingCall, PendingQuestions};
use crate::contract::{QuestionBody, Root as ContractRoot};

/// Handler of the requests of servers: puts them to the page. The host is built with it, and the console is given it then.
///
/// A question waits 10 minutes for an answer, but only 30 seconds while no page is open; then it is cancelled. Roots are asked
/// for within calls only: outside of calls, and without an answer, a server gets the roots of the host.
#[derive(Clone, Debug, Default)]
pub struct ConsoleHandler {
    questions: Arc<PendingQuestions>,
}

impl ConsoleHandler {
    /// Creates a handler.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns what the page can answer.
    pub fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms().with_urls().with_sampling_tools().with_roots()
    }

    /// Sets what a console needs of its host: the questions that the page can answer, tasks, and all lists.
    pub fn install(&self, builder: HostBuilder) -> HostBuilder {
        let handler: Arc<dyn ClientHandler> = Arc::new(self.clone());
        builder.with_abilities(self.capabilities()).with_handler(handler).with_tasks().with_all_lists()
    }

    pub(crate) fn questions(&self) -> &Arc<PendingQuestions> {
        &self.questions
    }
}

impl ClientHandler for ConsoleHandler {
    fn capabilities(&self) -> HandlerCapabilities {
        Self::capabilities(self)
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(elicit(&self.questions, None, request, asker))
    }

    fn sample<'a>(
        &'a self,
        request: CreateMessageParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(sample(&self.questions, None, request, asker))
    }
}

/// Handler of the requests within one call of the console.
pub(crate) struct CallHandler<C> {
    pub(crate) questions: Arc<PendingQuestions>,
    /// Weak: the call owns its run, which owns this handler.
    pub(crate) call: Weak<C>,
    /// The roots of the host, which the page shows as the answer.
    pub(crate) roots: Vec<Root>,
}

impl<C: AskingCall + 'static> CallHandler<C> {
    fn call(&self) -> Option<Arc<dyn AskingCall>> {
        let call: Arc<dyn AskingCall> = self.call.upgrade()?;
        Some(call)
    }
}

impl<C: AskingCall + 'static> ClientHandler for CallHandler<C> {
    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(elicit(&self.questions, self.call(), request, asker))
    }

    fn sample<'a>(
        &'a self,
        request: CreateMessageParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        Box::pin(sample(&self.questions, self.call(), request, asker))
    }

    fn roots<'a>(
        &'a self,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<Option<Vec<Root>>, HandlerError>> {
        Box::pin(async {
            let root = |root: &Root| ContractRoot { uri: root.uri.clone(), name: root.name.clone() };
            let body = QuestionBody::Roots { roots: self.roots.iter().map(root).collect() };
            match self.questions.ask(asker.to_string(), self.call(), (QuestionKind::Roots, body)).await {
                Some(CheckedAnswer::Roots(roots)) => Ok(Some(roots)),
                Some(_) => Err(declined()),
                None => Ok(None),
            }
        })
    }
}

async fn elicit(
    questions: &PendingQuestions,
    call: Option<Arc<dyn AskingCall>>,
    request: ElicitParams,
    asker: &RequestingServer,
) -> Result<ElicitResult, HandlerError> {
    let unsupported = || HandlerError::new("the console does not offer this kind of elicitation");
    let question = QuestionKind::of_elicitation(request).ok_or_else(unsupported)?;
    match questions.ask(asker.to_string(), call, question).await {
        Some(CheckedAnswer::Elicited(result)) => Ok(result),
        _ => Ok(ElicitResult::new(ElicitAction::Cancel)),
    }
}

async fn sample(
    questions: &PendingQuestions,
    call: Option<Arc<dyn AskingCall>>,
    request: CreateMessageParams,
    asker: &RequestingServer,
) -> Result<CreateMessageResult, HandlerError> {
    let params = switchboard_json::Raw::encode(&request)
        .map_err(|error| HandlerError::new(format!("the request cannot be shown: {error}")))?;
    let body = QuestionBody::Sampling { params_json: params.as_str().to_owned() };
    match questions.ask(asker.to_string(), call, (QuestionKind::Sampling, body)).await {
        Some(CheckedAnswer::Sampled(result)) => Ok(*result),
        Some(_) => Err(declined()),
        None => Err(unanswered()),
    }
}

fn declined() -> HandlerError {
    HandlerError::new("the user declined")
}

fn unanswered() -> HandlerError {
    HandlerError::new("nobody answered in time")
}
