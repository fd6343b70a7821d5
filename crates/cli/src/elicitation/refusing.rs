//! Refuses the questions of a server when there is no terminal.

use std::future::ready;
use std::sync::{Arc, OnceLock};

use switchboard::CallError;
use switchboard::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard::protocol::{ElicitParams, ElicitResult};
use switchboard::transport::link::BoxFuture;

use crate::elicitation::CAPABILITIES;
use crate::error::CommandError;
use crate::sanitize::one_line;

/// Handler that refuses every question because there is no terminal, and records the reason.
#[derive(Debug)]
pub(crate) struct RefusingHandler(pub(crate) RefusalReason);

impl ClientHandler for RefusingHandler {
    fn capabilities(&self) -> HandlerCapabilities {
        CAPABILITIES
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        let why = match &request {
            ElicitParams::Url(url) => format!(
                "the server asks you to visit {}, but there is no terminal to agree at",
                one_line(&url.url)
            ),
            ElicitParams::Form(form) => {
                let fields: Vec<String> = form.requested_schema.properties.keys().map(one_line).collect();
                format!(
                    "the server asks for input ({}), but there is no terminal to answer at",
                    fields.join(", ")
                )
            }
            _ => "the server asks for input, but there is no terminal to answer at".to_owned(),
        };
        self.0.set(&why);
        Box::pin(ready(Err(HandlerError::new(why))))
    }
}

/// Reason why a question was refused. Reported instead of the server's error message, which is usually less specific.
#[derive(Debug, Clone, Default)]
pub(crate) struct RefusalReason(Arc<OnceLock<String>>);

impl RefusalReason {
    /// Records the reason of the first refusal.
    pub(super) fn set(&self, reason: &str) {
        _ = self.0.set(reason.to_owned());
    }

    /// Replaces a reported error with the reason, if a question was refused.
    pub(crate) fn explain<T>(&self, used: Result<T, CommandError>) -> Result<T, CommandError> {
        match (used, self.0.get()) {
            (Err(CommandError::Reported(_)), Some(why)) => Err(CallError::InputRefused(why.clone()).into()),
            (used, _) => used,
        }
    }
}
