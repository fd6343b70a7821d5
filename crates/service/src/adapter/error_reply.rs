//! Converts errors to replies, according to the error rules and the protocol revision.

use switchboard_design::{Answer, ArgumentErrors, Asked, Error, ErrorPolicy, ErrorRules};
use switchboard_protocol::{ErrorCode, RpcError};
use switchboard_session::server::{self, Reply};

use super::Core;

impl Core {
    /// Converts an error of the service, after the author's error mapper.
    pub(crate) fn service_error_reply(
        &self,
        error: Error,
        asked: Asked,
        cx: &server::RequestContext,
    ) -> Reply {
        let error = match &self.options.mapper {
            Some(mapper) => mapper(error),
            None => error,
        };
        self.adapter_error_reply(&error, asked, cx)
    }

    /// Converts an error of the adapter, without the error mapper.
    pub(crate) fn adapter_error_reply(
        &self,
        error: &Error,
        asked: Asked,
        cx: &server::RequestContext,
    ) -> Reply {
        let rules = self.rules(cx);
        if let Error::Internal(source) = error {
            tracing::error!(error = %source, "method failed");
        }
        // Input is not available: reported to the model, which may continue without it.
        if let (Error::MissingCapability(_), Asked::Tool, ErrorPolicy::Specification) =
            (error, asked, rules.policy)
        {
            return self.adapter_error_reply(
                &Error::tool("missing_capability", error.public_message()),
                asked,
                cx,
            );
        }
        match rules.answer(error, asked) {
            Answer::Result(result) => Ok(result.into()),
            Answer::Rpc(error) => Err(error),
            _ => Err(RpcError::new(ErrorCode::INTERNAL_ERROR, "Internal error")),
        }
    }

    fn rules(&self, cx: &server::RequestContext) -> ErrorRules {
        let by_revision =
            || if cx.tells_misfits_in_results() { ArgumentErrors::Result } else { ArgumentErrors::Code };
        self.options.rules.with_arguments(self.options.argument_errors.unwrap_or_else(by_revision))
    }
}
