//! What a failed call means to a typed client.
//!
//! Invariant: only what the server says of arguments becomes [`Error::InvalidParams`]. A connection that fails, a wait
//! that is over or an answer that cannot be read is never a matter of arguments.

use serde::Deserialize;
use switchboard_design::{Design, Error, ItemKind, Repair};
use switchboard_protocol::{ErrorCode, OrderedMap, Raw, RpcError};
use switchboard_session::CallError;
use switchboard_session::link::LinkError;

/// What was called, so that a failure can be told with what would fit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Called<'a> {
    Tool(&'a str),
    Prompt(&'a str),
    /// Nothing that has a schema of its own.
    Other(&'a str),
}

impl Called<'_> {
    /// The method of the protocol.
    fn method(self) -> String {
        match self {
            Self::Tool(_) => "tools/call".into(),
            Self::Prompt(_) => "prompts/get".into(),
            Self::Other(method) => method.to_owned(),
        }
    }

    /// Whether the error says, in the words of the specification, that there is no such tool or prompt.
    fn is_unknown(self, error: &RpcError) -> bool {
        let words = match self {
            Self::Tool(name) => ["Unknown tool: ", name],
            Self::Prompt(name) => ["Unknown prompt: ", name],
            Self::Other(_) => return false,
        };
        error.code == ErrorCode::INVALID_PARAMS && error.message == words.concat()
    }

    fn unknown(self) -> Error {
        let (kind, name) = match self {
            Self::Tool(name) => (ItemKind::Tool, name),
            Self::Prompt(name) => (ItemKind::Prompt, name),
            Self::Other(name) => (ItemKind::Method, name),
        };
        Error::Unknown { kind, name: name.to_owned(), rpc: Some(ErrorCode::INVALID_PARAMS) }
    }

    /// How to repair the arguments that were sent, given what is wrong with them.
    pub(crate) fn repair(self, design: &Design, message: &str, prior: Option<&Raw>) -> Option<Repair> {
        let repair = match self {
            Self::Tool(name) => design.repair_tool(name, message),
            Self::Prompt(name) => design.repair_prompt(name, message),
            Self::Other(_) => None,
        }?;
        let prior = prior.and_then(|prior| prior.decode::<serde_json::Value>().ok());
        Some(match prior {
            Some(prior) => repair.with_prior(prior),
            None => repair,
        })
    }
}

/// What a call that did not give its result means. `repair` is asked only about arguments that do not fit.
pub(crate) fn failed(
    error: CallError,
    called: Called<'_>,
    repair: impl FnOnce(&str) -> Option<Repair>,
) -> Error {
    match error {
        CallError::Remote(error) => match lacking(&error) {
            Some(capability) => Error::MissingCapability(capability),
            None if called.is_unknown(&error) => called.unknown(),
            None => Error::from_rpc(error, repair),
        },
        CallError::Link(LinkError::Challenged(challenge))
            if challenge.error.as_deref() == Some("insufficient_scope") =>
        {
            let scopes = challenge.scope.as_deref().unwrap_or_default();
            Error::Unauthorized { scopes: scopes.split_ascii_whitespace().map(str::to_owned).collect() }
        }
        CallError::TimedOut { .. } => Error::Timeout,
        CallError::Cancelled => Error::Cancelled,
        CallError::Protocol { error, .. } => Error::Malformed(error),
        CallError::Unsupported { .. } => Error::MethodNotFound { method: called.method() },
        // Ours: it was never sent.
        CallError::Parameters(reason) => Error::internal(reason),
        other => Error::Transport(Box::new(other)),
    }
}

/// What the client would have to be able to do, if that is what the error says.
fn lacking(error: &RpcError) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Needs {
        required_capabilities: OrderedMap<Raw>,
    }
    let data = error.data.as_ref().filter(|_| error.code == ErrorCode::MISSING_CLIENT_CAPABILITY)?;
    let needs: Needs = data.decode().ok()?;
    Some(needs.required_capabilities.keys().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use switchboard_protocol::DecodeError;
    use switchboard_session::TimeoutKind;

    use super::*;

    #[test]
    fn only_what_the_server_says_of_arguments_may_be_repaired() {
        let told =
            |error| failed(error, Called::Other("resources/read"), |_| panic!("not a matter of arguments"));
        let timed_out = CallError::TimedOut {
            phase: TimeoutKind::Idle,
            after: std::time::Duration::from_secs(1),
            hint: None,
        };
        assert!(matches!(told(timed_out), Error::Timeout));
        assert!(matches!(told(CallError::Cancelled), Error::Cancelled));
        let protocol =
            CallError::Protocol { method: "tools/call".into(), error: DecodeError::mismatch("a", "b") };
        assert!(matches!(told(protocol), Error::Malformed(_)));
        let missing = told(CallError::Unsupported { what: "resources" });
        assert!(matches!(missing, Error::MethodNotFound { method } if method == "resources/read"));
        for error in [CallError::Closed, CallError::NotInitialized, CallError::Link(LinkError::lost("gone"))]
        {
            let error = told(error);
            assert!(matches!(error, Error::Transport(_)), "{error:?}");
            assert!(!error.is_retryable());
            assert!(error.downcast_ref::<CallError>().is_some());
        }
        let needs = RpcError::new(ErrorCode::MISSING_CLIENT_CAPABILITY, "no")
            .with_data(serde_json::json!({"requiredCapabilities": {"elicitation": {}}}));
        let lacking = told(CallError::Remote(needs));
        assert!(matches!(lacking, Error::MissingCapability(capability) if capability == "elicitation"));
        let mut challenge = switchboard_session::link::Challenge::new(403);
        challenge.error = Some("insufficient_scope".into());
        challenge.scope = Some("a b".into());
        let forbidden = told(CallError::Link(LinkError::Challenged(std::sync::Arc::new(challenge))));
        assert!(matches!(forbidden, Error::Unauthorized { scopes } if scopes == ["a", "b"]));
        let internal = told(CallError::Remote(RpcError::internal("boom")));
        assert!(matches!(internal, Error::Rpc(error) if error.message == "boom"));
    }
}
