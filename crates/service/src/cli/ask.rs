//! Questions of a service answered at the terminal: the session's side of [`Prompter`].

use std::sync::Arc;

use switchboard_protocol::{ElicitParams, ElicitResult};
use switchboard_session::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_session::link::BoxFuture;
use switchboard_terminal::{Confirmation, Prompter};

/// Asks whoever sits at the terminal.
#[derive(Debug)]
pub(super) struct AtTerminal(Prompter);

impl Default for AtTerminal {
    fn default() -> Self {
        Self(Prompter::new(Arc::default(), Arc::default(), Confirmation::UnlessYesOrNo))
    }
}

impl ClientHandler for AtTerminal {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms().with_urls()
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async move {
            let answer = self.0.ask(&request, &asker.to_string()).await;
            answer.ok_or_else(|| HandlerError::new("this kind of question is not known here"))
        })
    }
}
