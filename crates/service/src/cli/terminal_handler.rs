//! Answers elicitation requests of a service at the terminal, with a [`Prompter`].

use std::sync::Arc;

use switchboard_protocol::{ElicitParams, ElicitResult};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;
use switchboard_terminal::{Confirmation, Prompter};

/// Handler that asks the user at the terminal.
#[derive(Debug)]
pub(super) struct TerminalHandler(Prompter);

impl Default for TerminalHandler {
    fn default() -> Self {
        Self(Prompter::new(Arc::default(), Arc::default(), Confirmation::UnlessYesOrNo))
    }
}

impl ClientHandler for TerminalHandler {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms().with_urls()
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        server: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async move {
            let answer = self.0.ask(&request, &server.to_string()).await;
            answer.ok_or_else(|| HandlerError::new("this kind of elicitation is not supported"))
        })
    }
}
