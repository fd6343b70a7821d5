//! Errors that servers answer with, as clients get them.
//!
//! Invariant: no error of a server has reserved reasons, or codes about the hop to the client.

use serde_json::json;
use switchboard_protocol::{ClientCapabilities, ErrorCode, Raw, RpcError};

use crate::capabilities::required_capabilities;
use crate::error_reason::{ErrorReason, has_reserved_reason, with_reason};
use crate::limits::RateLimited;

/// Returns an error that a server answered with. One that is about the hop to the server says nothing about the hop to the
/// client: a client that took it for its own would speak another revision, or ask its user for the scopes that the server
/// names. One that says what only the gateway says would send a client the wrong way: to wait for a limit that the gateway does
/// not have, or to repeat a call that has run.
pub(crate) fn relayed_error(server: &str, error: RpcError) -> RpcError {
    let message = &error.message;
    if error.missing_scopes().is_some() {
        let text = format!(
            "{server:?} refused the credential of the gateway: {message}\nAsk the operator of the gateway for a login with \
             further scopes."
        );
        return with_reason(ErrorCode::INTERNAL_ERROR, ErrorReason::UpstreamNeedsScope, text);
    }
    match error.code {
        ErrorCode::HEADER_MISMATCH | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION | ErrorCode::PARSE_ERROR => {
            let text = format!(
                "{server:?} did not accept the request of the gateway: {message}\nNothing was done; report it to the operator \
                 of the gateway."
            );
            with_reason(ErrorCode::INTERNAL_ERROR, ErrorReason::UpstreamProtocolError, text)
        }
        RateLimited::CODE => as_upstream_error(server, &error),
        _ if error.data.as_ref().is_some_and(has_reserved_reason) => as_upstream_error(server, &error),
        _ => error,
    }
}

/// Returns an error of a server without a code that is an HTTP status of the gateway for a modern client: 400 and 404 would say
/// that the gateway does not understand the request, and some clients end their session then.
pub(crate) fn without_http_status(server: &str, error: RpcError) -> RpcError {
    match error.code {
        ErrorCode::INVALID_REQUEST | ErrorCode::METHOD_NOT_FOUND => as_upstream_error(server, &error),
        _ => error,
    }
}

/// Returns an error of a server without the code for a capability that the client lacks.
pub(crate) fn without_capability_code(server: &str, error: RpcError) -> RpcError {
    match error.code {
        ErrorCode::MISSING_CLIENT_CAPABILITY => as_upstream_error(server, &error),
        _ => error,
    }
}

/// Returns the error that a task ended with. It is a value here, not the answer to a request.
pub(crate) fn task_error(server: &str, error: RpcError) -> RpcError {
    without_capability_code(server, relayed_error(server, error))
}

/// Checks an error that a call ended with: that the client lacks a capability is passed on only if it does, and if the gateway
/// would relay it.
pub(crate) fn capability_error(server: &str, error: RpcError, declared: &ClientCapabilities) -> RpcError {
    if error.code != ErrorCode::MISSING_CLIENT_CAPABILITY {
        return error;
    }
    match error.data.as_ref().and_then(|data| required_capabilities(data, declared)) {
        Some(required) => {
            let data = Raw::from(json!({ "requiredCapabilities": required }));
            RpcError::new(error.code, error.message).with_data(data)
        }
        None => without_capability_code(server, error),
    }
}

/// Returns an error that says whose it is. The code of the server is in `data.code`; its data stays behind.
fn as_upstream_error(server: &str, error: &RpcError) -> RpcError {
    let RpcError { code, message, .. } = error;
    let text = format!("{server:?} answered with error {}: {message}", code.0);
    let data = json!({ "reason": ErrorReason::UpstreamError.as_str(), "code": code.0 });
    RpcError::new(ErrorCode::INTERNAL_ERROR, text).with_data(Raw::from(data))
}

/// Returns whether a server does not have the method that it was asked for.
pub(crate) fn is_unknown_method(error: &RpcError) -> bool {
    #[derive(serde::Deserialize)]
    struct UpstreamError {
        reason: String,
        code: i32,
    }
    let upstream = || error.data.as_ref()?.decode::<UpstreamError>().ok();
    error.code == ErrorCode::METHOD_NOT_FOUND
        || upstream().is_some_and(|upstream| {
            upstream.reason == ErrorReason::UpstreamError.as_str()
                && upstream.code == ErrorCode::METHOD_NOT_FOUND.0
        })
}
