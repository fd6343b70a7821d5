//! Session handler that asks the user at the terminal, with [`Prompter`].

use std::sync::Arc;

use switchboard::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard::protocol::{ElicitParams, ElicitResult};
use switchboard::transport::link::BoxFuture;
use switchboard_terminal::{Confirmation, Prompter};

use crate::elicitation::{CAPABILITIES, StdinLines};
use crate::output::Screen;

/// Handler that asks the user at the terminal.
#[derive(Debug)]
pub(crate) struct TerminalHandler {
    pub(crate) prompter: Prompter,
    /// Name of the server, if there is only one.
    server: Option<String>,
}

impl TerminalHandler {
    pub(crate) fn new(screen: Arc<Screen>, stdin: Arc<StdinLines>) -> Self {
        Self { prompter: Prompter::new(screen, stdin, Confirmation::Always), server: None }
    }

    /// Sets the name under which the user knows a server that is not configured.
    #[must_use]
    pub(crate) fn for_server(mut self, name: &str) -> Self {
        self.server = Some(name.to_owned());
        self
    }
}

impl ClientHandler for TerminalHandler {
    fn capabilities(&self) -> HandlerCapabilities {
        CAPABILITIES
    }

    fn server_name(&self) -> Option<&str> {
        self.server.as_deref()
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        requester: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async move {
            let answer = self.prompter.ask(&request, &requester.to_string()).await;
            answer.ok_or_else(|| HandlerError::new("this kind of question is not supported"))
        })
    }
}
