//! Converts call errors for typed clients.
//!
//! Invariant: only an error of the server about arguments becomes [`Error::InvalidParams`]; a failed connection, a
//! timeout or an undecodable response never does.

use serde::Deserialize;
use switchboard_design::{Design, Error, ItemKind, Repair};
use switchboard_protocol::{ErrorCode, OrderedMap, Raw, RpcError};
use switchboard_session::CallError;
use switchboard_session::link::LinkError;

/// The item that was called, for error conversion.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CallTarget<'a> {
    Tool(&'a str),
    Prompt(&'a str),
    /// An item without a schema.
    Other(&'a str),
}

impl CallTarget<'_> {
    /// Returns the protocol method.
    fn method(self) -> String {
        match self {
            Self::Tool(_) => "tools/call".into(),
            Self::Prompt(_) => "prompts/get".into(),
            Self::Other(method) => method.to_owned(),
        }
    }

    /// Returns whether the error has the specified message for an unknown tool or prompt.
    fn is_unknown(self, error: &RpcError) -> bool {
        let expected = match self {
            Self::Tool(name) => ["Unknown tool: ", name],
            Self::Prompt(name) => ["Unknown prompt: ", name],
            Self::Other(_) => return false,
        };
        error.code == ErrorCode::INVALID_PARAMS && error.message == expected.concat()
    }

    fn unknown(self) -> Error {
        let (kind, name) = match self {
            Self::Tool(name) => (ItemKind::Tool, name),
            Self::Prompt(name) => (ItemKind::Prompt, name),
            Self::Other(name) => (ItemKind::Method, name),
        };
        Error::Unknown { kind, name: name.to_owned(), rpc: Some(ErrorCode::INVALID_PARAMS) }
    }

    /// Returns the repair for invalid arguments.
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

/// Converts a call error. `repair` is called only for invalid arguments.
pub(crate) fn to_error(
    error: CallError,
    target: CallTarget<'_>,
    repair: impl FnOnce(&str) -> Option<Repair>,
) -> Error {
    match error {
        CallError::Remote(error) => match missing_capability(&error) {
            Some(capability) => Error::MissingCapability(capability),
            None if target.is_unknown(&error) => target.unknown(),
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
        CallError::Unsupported { .. } => Error::MethodNotFound { method: target.method() },
        // A client-side error: the request was not sent.
        CallError::Parameters(reason) => Error::internal(reason),
        other => Error::Transport(Box::new(other)),
    }
}

/// Returns the missing capabilities, if that is the error.
fn missing_capability(error: &RpcError) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct MissingCapabilityData {
        required_capabilities: OrderedMap<Raw>,
    }
    let data = error.data.as_ref().filter(|_| error.code == ErrorCode::MISSING_CLIENT_CAPABILITY)?;
    let needs: MissingCapabilityData = data.decode().ok()?;
    Some(needs.required_capabilities.keys().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use switchboard_protocol::DecodeError;
    use switchboard_session::TimeoutKind;

    use super::*;

    #[test]
    fn only_argument_errors_of_the_server_can_be_repaired() {
        let convert =
            |error| to_error(error, CallTarget::Other("resources/read"), |_| panic!("not an argument error"));
        let timed_out = CallError::TimedOut {
            kind: TimeoutKind::Idle,
            after: std::time::Duration::from_secs(1),
            hint: None,
        };
        assert!(matches!(convert(timed_out), Error::Timeout));
        assert!(matches!(convert(CallError::Cancelled), Error::Cancelled));
        let protocol =
            CallError::Protocol { method: "tools/call".into(), error: DecodeError::mismatch("a", "b") };
        assert!(matches!(convert(protocol), Error::Malformed(_)));
        let missing = convert(CallError::Unsupported { what: "resources" });
        assert!(matches!(missing, Error::MethodNotFound { method } if method == "resources/read"));
        for error in [CallError::Closed, CallError::NotInitialized, CallError::Link(LinkError::lost("gone"))]
        {
            let error = convert(error);
            assert!(matches!(error, Error::Transport(_)), "{error:?}");
            assert!(!error.is_retryable());
            assert!(error.downcast_ref::<CallError>().is_some());
        }
        let needs = RpcError::new(ErrorCode::MISSING_CLIENT_CAPABILITY, "no")
            .with_data(serde_json::json!({"requiredCapabilities": {"elicitation": {}}}));
        let missing_capability = convert(CallError::Remote(needs));
        assert!(
            matches!(missing_capability, Error::MissingCapability(capability) if capability == "elicitation")
        );
        let mut challenge = switchboard_session::link::Challenge::new(403);
        challenge.error = Some("insufficient_scope".into());
        challenge.scope = Some("a b".into());
        let forbidden = convert(CallError::Link(LinkError::Challenged(std::sync::Arc::new(challenge))));
        assert!(matches!(forbidden, Error::Unauthorized { scopes } if scopes == ["a", "b"]));
        let internal = convert(CallError::Remote(RpcError::internal("boom")));
        assert!(matches!(internal, Error::Rpc(error) if error.message == "boom"));
    }
}
