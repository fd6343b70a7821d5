//! Questions of a server answered at the terminal: the session's side of [`Prompter`].

use std::sync::Arc;

use switchboard::protocol::{ElicitParams, ElicitResult, UrlParams};
use switchboard::session::link::BoxFuture;
use switchboard::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard_terminal::{Confirmation, Prompter};

use crate::ask::Keyboard;
use crate::ask::scripted::DECLARED;
use crate::output::Screen;

/// Asks whoever sits at the terminal.
#[derive(Debug)]
pub(crate) struct AtTerminal {
    prompter: Prompter,
    /// The server that asks, where it is the only one.
    server: Option<String>,
}

impl AtTerminal {
    pub(crate) fn new(screen: Arc<Screen>, keyboard: Arc<Keyboard>) -> Self {
        Self { prompter: Prompter::new(screen, keyboard, Confirmation::Always), server: None }
    }

    /// For a server that is not configured: the user knows it by this.
    #[must_use]
    pub(crate) fn for_server(mut self, name: &str) -> Self {
        self.server = Some(name.to_owned());
        self
    }

    /// As [`Prompter::visit`].
    pub(crate) async fn visit(
        &self,
        page: &UrlParams,
        who: &str,
        completed: impl Future<Output = ()>,
    ) -> bool {
        self.prompter.visit(page, who, completed).await
    }
}

impl ClientHandler for AtTerminal {
    fn capabilities(&self) -> HandlerCapabilities {
        DECLARED
    }

    fn server_name(&self) -> Option<&str> {
        self.server.as_deref()
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async move {
            let answer = self.prompter.ask(&request, &asker.to_string()).await;
            answer.ok_or_else(|| HandlerError::new("this kind of question is not supported"))
        })
    }
}
