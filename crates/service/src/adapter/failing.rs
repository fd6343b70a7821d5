//! How what went wrong is told: mapped once, classified once, by the rules and the revision.

use switchboard_design::{ArgumentErrors, Error, ErrorPolicy, ErrorResponse, ErrorRules, RequestKind};
use switchboard_protocol::{ErrorCode, RpcError};
use switchboard_session::server::{self, Reply};

use super::Core;

impl Core {
    /// What the caller is told of an error of the service, which the author may have mapped.
    pub(crate) fn fail(&self, error: Error, asked: RequestKind, cx: &server::RequestContext) -> Reply {
        let error = match &self.options.mapper {
            Some(mapper) => mapper(error),
            None => error,
        };
        self.refuse(&error, asked, cx)
    }

    /// What the caller is told of an error of ours.
    pub(crate) fn refuse(&self, error: &Error, asked: RequestKind, cx: &server::RequestContext) -> Reply {
        let rules = self.rules(cx);
        if let Error::Internal(source) = error {
            tracing::error!(error = %source, "a method failed");
        }
        // Nobody can be asked: the model may do without, where it can be told.
        if let (Error::MissingCapability(_), RequestKind::Tool, ErrorPolicy::Specification) =
            (error, asked, rules.policy)
        {
            return self.refuse(&Error::tool("missing_capability", error.public_message()), asked, cx);
        }
        match rules.respond(error, asked) {
            ErrorResponse::Result(result) => Ok(result.into()),
            ErrorResponse::Rpc(error) => Err(error),
            _ => Err(RpcError::new(ErrorCode::INTERNAL_ERROR, "Internal error")),
        }
    }

    fn rules(&self, cx: &server::RequestContext) -> ErrorRules {
        let by_revision =
            || if cx.tells_misfits_in_results() { ArgumentErrors::Result } else { ArgumentErrors::Code };
        self.options.rules.with_arguments(self.options.argument_errors.unwrap_or_else(by_revision))
    }
}
