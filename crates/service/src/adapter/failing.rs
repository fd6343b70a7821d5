//! How what went wrong is told: mapped once, classified once, by the rules and the revision.

use switchboard_design::{Answer, ArgumentErrors, Asked, Error, ErrorPolicy};
use switchboard_protocol::{ErrorCode, RpcError};
use switchboard_session::server::{self, Reply};

use super::Core;

impl Core {
    /// What the caller is told of an error of the service, which the author may have mapped.
    pub(crate) fn fail(&self, error: Error, asked: Asked, cx: &server::RequestContext) -> Reply {
        self.fail_with(error, asked, by_revision(cx))
    }

    /// As [`Self::fail`], with the default of the revision for errors about arguments.
    pub(crate) fn fail_with(&self, error: Error, asked: Asked, arguments: ArgumentErrors) -> Reply {
        let error = match &self.options.mapper {
            Some(mapper) => mapper(error),
            None => error,
        };
        self.refuse_with(&error, asked, arguments)
    }

    /// What the caller is told of an error of ours.
    pub(crate) fn refuse(&self, error: &Error, asked: Asked, cx: &server::RequestContext) -> Reply {
        self.refuse_with(error, asked, by_revision(cx))
    }

    fn refuse_with(&self, error: &Error, asked: Asked, arguments: ArgumentErrors) -> Reply {
        let rules = self.options.rules.with_arguments(self.options.argument_errors.unwrap_or(arguments));
        if let Error::Internal(source) = error {
            tracing::error!(error = %source, "a method failed");
        }
        // Nobody can be asked: the model may do without, where it can be told.
        if let (Error::MissingCapability(_), Asked::Tool, ErrorPolicy::Specification) =
            (error, asked, rules.policy)
        {
            let missing = Error::tool("missing_capability", error.public_message());
            return self.refuse_with(&missing, asked, arguments);
        }
        match rules.answer(error, asked) {
            Answer::Result(result) => Ok(result.into()),
            Answer::Rpc(error) => Err(error),
            _ => Err(RpcError::new(ErrorCode::INTERNAL_ERROR, "Internal error")),
        }
    }
}

fn by_revision(cx: &server::RequestContext) -> ArgumentErrors {
    if cx.tells_misfits_in_results() { ArgumentErrors::Result } else { ArgumentErrors::Code }
}
