//! Converts errors to replies, according to the error rules and the protocol revision.

use switchboard_design::{ArgumentErrors, Error, ErrorPolicy, ErrorResponse, RequestKind};
use switchboard_protocol::{ErrorCode, RpcError};
use switchboard_session::server::{self, Reply};

use super::Core;

impl Core {
    /// Converts an error of the service, after the author's error mapper.
    pub(crate) fn service_error_reply(
        &self,
        error: Error,
        asked: RequestKind,
        cx: &server::RequestContext,
    ) -> Reply {
        self.service_error_reply_with(error, asked, by_revision(cx))
    }

    /// As [`Self::service_error_reply`], with the default of the revision for errors about arguments.
    pub(crate) fn service_error_reply_with(
        &self,
        error: Error,
        asked: RequestKind,
        arguments: ArgumentErrors,
    ) -> Reply {
        let error = match &self.options.mapper {
            Some(mapper) => mapper(error),
            None => error,
        };
        self.error_reply(&error, asked, arguments)
    }

    /// Converts an error of the adapter, without the error mapper.
    pub(crate) fn adapter_error_reply(
        &self,
        error: &Error,
        asked: RequestKind,
        cx: &server::RequestContext,
    ) -> Reply {
        self.error_reply(error, asked, by_revision(cx))
    }

    fn error_reply(&self, error: &Error, asked: RequestKind, arguments: ArgumentErrors) -> Reply {
        let rules = self.options.rules.with_arguments(self.options.argument_errors.unwrap_or(arguments));
        if let Error::Internal(source) = error {
            tracing::error!(error = %source, "method failed");
        }
        // Input is not available: reported to the model, which may continue without it.
        if let (Error::MissingCapability(_), RequestKind::Tool, ErrorPolicy::Specification) =
            (error, asked, rules.policy)
        {
            let missing = Error::tool("missing_capability", error.public_message());
            return self.error_reply(&missing, asked, arguments);
        }
        match rules.respond(error, asked) {
            ErrorResponse::Result(result) => Ok(result.into()),
            ErrorResponse::Rpc(error) => Err(error),
            _ => Err(RpcError::new(ErrorCode::INTERNAL_ERROR, "Internal error")),
        }
    }
}

fn by_revision(cx: &server::RequestContext) -> ArgumentErrors {
    if cx.reports_invalid_arguments_in_results() { ArgumentErrors::Result } else { ArgumentErrors::Code }
}
