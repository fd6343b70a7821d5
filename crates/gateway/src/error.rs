//! Errors for clients: what failed, whose fault it is, and what to do next. `data.reason` is for programs.

use std::sync::Arc;

use switchboard_host::HostError;
use switchboard_protocol::{ErrorCode, Raw, RpcError};
use switchboard_session::CallError;
use switchboard_session::link::ServerExit;

use crate::error_reason::{ErrorReason, with_reason};
use crate::upstream_error::{relayed_error, without_capability_code, without_http_status};

/// Converts an error of the host for a request that the gateway made by itself. What a process wrote to stderr is not for
/// clients, because it may hold data of others; the status of the gateway has it.
pub(crate) fn from_host(error: HostError) -> RpcError {
    let server = Arc::clone(match &error {
        HostError::Call { server, .. } | HostError::Session { server, .. } => server,
        _ => return from_host_of_call(error),
    });
    without_capability_code(&server, from_host_of_call(error))
}

/// As [`from_host`], for a call whose error [`capability_error`](crate::upstream_error::capability_error) checks against the
/// capabilities of its client. An error that the server itself answered with passes, unless it says something that only the
/// gateway knows.
pub(crate) fn from_host_of_call(error: HostError) -> RpcError {
    let server = match &error {
        HostError::Call { error, server, .. } | HostError::Session { error, server } => {
            error.remote().map(|_| Arc::clone(server))
        }
        _ => None,
    };
    let converted = from_host_in_session(error);
    match server {
        Some(server) => without_http_status(&server, converted),
        None => converted,
    }
}

/// Converts an error of the host for a client with a session, to which the codes of errors mean nothing beyond the request.
pub(crate) fn from_host_in_session(error: HostError) -> RpcError {
    let text = client_text(&error);
    match error {
        HostError::Call { error, server, .. } | HostError::Session { error, server } => match *error {
            CallError::Remote(error) => relayed_error(&server, error),
            CallError::TimedOut { .. } => {
                with_reason(ErrorCode::INTERNAL_ERROR, ErrorReason::UpstreamTimeout, text)
            }
            _ => {
                let hint =
                    format!("{text}\nThe server {server:?} did not complete the request; it may have run.");
                with_reason(ErrorCode::INTERNAL_ERROR, ErrorReason::UpstreamFailed, hint)
            }
        },
        HostError::NeedsAuth { .. } => with_reason(
            ErrorCode::INTERNAL_ERROR,
            ErrorReason::UpstreamNeedsLogin,
            format!("{text}\nLog the gateway in to this server."),
        ),
        HostError::NotReady { .. } | HostError::NotConnected { .. } | HostError::Connect { .. } => {
            with_reason(
                ErrorCode::INTERNAL_ERROR,
                ErrorReason::UpstreamUnavailable,
                format!("{text}\nNothing was sent; try again later."),
            )
        }
        HostError::TooManySessions { .. } => with_reason(
            ErrorCode::INTERNAL_ERROR,
            ErrorReason::TooManySessions,
            format!("{text}\nNothing was sent; try again later."),
        ),
        HostError::Busy { .. } => with_reason(
            ErrorCode::INTERNAL_ERROR,
            ErrorReason::UpstreamBusy,
            format!("{text}\nNothing was sent; try again later."),
        ),
        // It was withheld or removed a moment ago.
        HostError::Withheld { tool, .. } | HostError::UnknownTool { tool, .. } => unknown_tool(&tool),
        HostError::Refused { .. } => with_reason(
            ErrorCode::INVALID_REQUEST,
            ErrorReason::NotPermitted,
            format!(
                "{text}\nNothing was sent; use another tool, or ask the operator of the gateway to permit this one."
            ),
        ),
        HostError::Arguments { .. } => {
            with_reason(ErrorCode::INVALID_PARAMS, ErrorReason::InvalidArguments, text)
        }
        _ => RpcError::internal(text),
    }
}

/// Returns the text of an error without what only the operator may read: stderr output, and the names of all servers.
fn client_text(error: &HostError) -> String {
    let without_output = |exit: &ServerExit| ServerExit::new(exit.code, exit.signal, "").to_string();
    match error {
        HostError::Call { server, error, .. } | HostError::Session { server, error } => match &**error {
            CallError::Link(link) => match link.exit() {
                Some(exit) => format!("{server:?}: {}", without_output(exit)),
                None => format!("{server:?}: {link}"),
            },
            other => format!("{server:?}: {other}"),
        },
        HostError::NotReady { server, status } => match status.failure() {
            Some(failure) if failure.stderr_tail().is_some() => {
                format!("{server:?} is not ready: it did not start, or it ended unexpectedly")
            }
            _ => error.to_string(),
        },
        HostError::Connect { server, failure } if failure.stderr_tail().is_some() => {
            format!("{server:?} did not connect: it did not start, or it ended unexpectedly")
        }
        HostError::NotConnected { server, .. } => format!("{server:?} is not connected"),
        _ => error.to_string(),
    }
}

/// The error for a request whose server was removed a moment ago.
pub(crate) fn server_removed(server: &str) -> RpcError {
    let text =
        format!("the server {server:?} was removed\nNothing was sent; list again what is offered now.");
    with_reason(ErrorCode::INTERNAL_ERROR, ErrorReason::UpstreamRemoved, text)
}

/// The error for a tool that is not exposed.
pub(crate) fn unknown_tool(name: &str) -> RpcError {
    RpcError::invalid_params(format!("Unknown tool: {name}"))
}

/// The error for a prompt that is not exposed.
pub(crate) fn unknown_prompt(name: &str) -> RpcError {
    RpcError::invalid_params(format!("Unknown prompt: {name}"))
}

/// The error for a resource whose server announces no updates.
pub(crate) fn not_subscribable(uri: &str) -> RpcError {
    let data = Raw::from(serde_json::json!({ "uri": uri, "reason": ErrorReason::NotSubscribable.as_str() }));
    let message = format!("the server of {uri} does not announce updates; read it again instead");
    RpcError::invalid_params(message).with_data(data)
}

/// The error for a task that does not exist, or not for this caller.
pub(crate) fn unknown_task(id: &str) -> RpcError {
    RpcError::invalid_params(format!("Unknown task: {id}"))
}

/// The error for a task in a session of another replica of the gateway.
pub(crate) fn task_elsewhere() -> RpcError {
    with_reason(
        ErrorCode::INTERNAL_ERROR,
        ErrorReason::TaskElsewhere,
        "the task is in a session of another replica of the gateway\nNothing was sent; repeat the request: it succeeds when it \
         reaches that replica. If it never does, ask the operator to route the requests of a client to one replica."
            .to_owned(),
    )
}

/// The error for the answer to a question that no call waits for.
pub(crate) fn question_expired() -> RpcError {
    with_reason(
        ErrorCode::INVALID_PARAMS,
        ErrorReason::QuestionExpired,
        "no call waits for this answer: it was answered before, or its time is over\nCall the tool again without the answer. It \
         may have run up to the question."
            .to_owned(),
    )
}

/// The error for the answer to a question of a call that another replica of the gateway holds.
pub(crate) fn question_elsewhere() -> RpcError {
    with_reason(
        ErrorCode::INVALID_PARAMS,
        ErrorReason::QuestionElsewhere,
        "the call waits for this answer on another replica of the gateway; send the answer to that one, or call the tool \
         again. It may have run up to the question"
            .to_owned(),
    )
}

/// A bound of the calls that wait for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParkedBound {
    All,
    Caller,
    Server,
    /// What one caller may have of the room of a server.
    Share,
}

/// The error for a question that cannot be kept.
pub(crate) fn too_many_questions(waiting: usize, bound: ParkedBound) -> RpcError {
    let whose = match bound {
        ParkedBound::All => "of all callers wait",
        ParkedBound::Caller => "of this caller wait",
        ParkedBound::Server => "of this server wait",
        ParkedBound::Share => "of this caller and this server wait",
    };
    with_reason(
        ErrorCode::INTERNAL_ERROR,
        ErrorReason::TooManyQuestions,
        format!(
            "{waiting} questions {whose} for an answer already, which is the limit\nAnswer some of them, then call the tool \
             again. The call was cancelled; it may have run up to its question."
        ),
    )
}

/// The error for a call whose server asks more questions at once than are relayed.
pub(crate) fn too_many_at_once(server: &str, limit: usize) -> RpcError {
    with_reason(
        ErrorCode::INTERNAL_ERROR,
        ErrorReason::TooManyQuestions,
        format!(
            "{server:?} asked more than {limit} questions at once, which is the limit of one call\nReport it to the operator of \
             the server. The call has not been completed."
        ),
    )
}

/// The error for a handle whose result is not kept for its caller.
pub(crate) fn result_expired() -> RpcError {
    with_reason(
        ErrorCode::INVALID_PARAMS,
        ErrorReason::ResultExpired,
        "no result with this handle is kept for this caller; call the tool again".to_owned(),
    )
}

/// The error for a request of a view that was removed.
pub(crate) fn view_removed() -> RpcError {
    with_reason(
        ErrorCode::INVALID_REQUEST,
        ErrorReason::ViewRemoved,
        "this view of the gateway was removed; connect to another one".to_owned(),
    )
}

/// The error for a call that arrives while the gateway shuts down.
pub(crate) fn shutting_down() -> RpcError {
    with_reason(
        ErrorCode::INTERNAL_ERROR,
        ErrorReason::ShuttingDown,
        "the gateway is shutting down; nothing was sent. Try again: on another gateway, or when it has restarted. A call that \
         waited for an answer ends with this gateway; it may have run up to its question"
            .to_owned(),
    )
}
