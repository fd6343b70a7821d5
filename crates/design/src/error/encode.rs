//! Encodes an error as a response to the caller.
//!
//! | error | [`ErrorPolicy::Specification`] | [`ErrorPolicy::Codes`] |
//! |---|---|---|
//! | invalid arguments of a tool | by [`ArgumentErrors`]: failed result, or -32602 | -32602 |
//! | other invalid arguments | -32602 | -32602 |
//! | unknown tool, prompt, resource | -32602 | -32601 |
//! | unknown method | -32601 | -32601 |
//! | [`ToolError`] of a tool | failed result | by its name: -32602 for `invalid_params`, -32601 for `method_not_found`, else -32603 |
//! | [`ToolError`] of a resource or prompt | by its name | by its name |
//! | `not_found` of a resource | -32002, which newer revisions encode as -32602 | the same |
//! | `not_found` of a prompt | -32602 | -32602 |
//! | denied resource | -32602 | -32602 |
//! | missing scopes | -32600 | -32600 |
//! | JSON-RPC error of a peer | unchanged | unchanged |
//! | all others | -32603 | -32603 |
//!
//! An unknown resource has its URI as data; lowering uses it to select the code of older revisions. Invariant: the
//! response depends only on the error, the rules and the kind of request, not on whether the call is streamed.

use serde::Serialize;
use serde_json::json;
use switchboard_protocol::{CallToolResult, ErrorCode, Meta, Raw, RpcError};

use super::{
    ERROR_KEY, Error, INVALID_PARAMS, INVALID_PARAMS_KEY, InvalidParams, NOT_FOUND, ToolError, UNKNOWN_KEY,
};
use crate::check::ItemKind;

/// How errors are encoded as responses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorRules {
    /// Failed results or JSON-RPC errors.
    pub policy: ErrorPolicy,
    /// The response to invalid arguments of a tool.
    pub arguments: ArgumentErrors,
    /// Whether messages of internal errors are sent.
    pub details: ErrorDetails,
}

/// Whether errors of tools are failed results or JSON-RPC errors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ErrorPolicy {
    /// As the specification says: errors that a model can act on are failed results.
    #[default]
    Specification,
    /// Every error is a JSON-RPC error, for callers that only look at codes.
    Codes,
}

/// The response to invalid arguments of a tool under [`ErrorPolicy::Specification`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ArgumentErrors {
    /// A failed result, which the model reads.
    #[default]
    Result,
    /// The error -32602, as older revisions specify.
    Code,
}

/// Whether callers see the messages of internal errors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ErrorDetails {
    /// A generic message only.
    #[default]
    Hidden,
    /// The message of the error and its source, for debugging.
    Shown,
}

/// The kind of the request that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// A tool call, whose result can report a failure.
    Tool,
    /// Reading a resource.
    Resource,
    /// Getting a prompt.
    Prompt,
    /// Any other request.
    Other,
}

/// The response to a failed request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ErrorResponse {
    /// A failed result of a tool.
    Result(CallToolResult),
    /// A JSON-RPC error.
    Rpc(RpcError),
}

impl ErrorRules {
    /// Creates rules with a policy and the other settings at their defaults.
    pub fn new(policy: ErrorPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// Sets [`arguments`](Self::arguments).
    #[must_use]
    pub fn with_arguments(mut self, arguments: ArgumentErrors) -> Self {
        self.arguments = arguments;
        self
    }

    /// Sets [`details`](Self::details).
    #[must_use]
    pub fn with_details(mut self, details: ErrorDetails) -> Self {
        self.details = details;
        self
    }

    /// Encodes an error as the response to a request.
    pub fn respond(self, error: &Error, request: RequestKind) -> ErrorResponse {
        match (error, self.policy) {
            (Error::InvalidParams(invalid), _) => self.invalid_params(invalid, request),
            (Error::Tool(own), policy) => match (own.code.as_str(), request, policy) {
                (INVALID_PARAMS, _, ErrorPolicy::Specification) => {
                    self.invalid_params(&InvalidParams::new(own.message.clone()), request)
                }
                (_, RequestKind::Tool, ErrorPolicy::Specification) => {
                    ErrorResponse::Result(failed_result(own))
                }
                (NOT_FOUND, RequestKind::Resource, _) => {
                    ErrorResponse::Rpc(tool_rpc_error(ErrorCode::RESOURCE_NOT_FOUND, own))
                }
                (NOT_FOUND, RequestKind::Prompt, _) => {
                    ErrorResponse::Rpc(tool_rpc_error(ErrorCode::INVALID_PARAMS, own))
                }
                _ => ErrorResponse::Rpc(tool_rpc_error(own.rpc_code(), own)),
            },
            (Error::Unknown { kind: ItemKind::Resource, name, .. }, ErrorPolicy::Specification) => {
                ErrorResponse::Rpc(
                    RpcError::new(ErrorCode::INVALID_PARAMS, error.to_string())
                        .with_data(json!({"uri": name})),
                )
            }
            (Error::Unknown { kind, name, .. }, policy) => {
                let code = match policy {
                    ErrorPolicy::Codes => ErrorCode::METHOD_NOT_FOUND,
                    ErrorPolicy::Specification => error.code(),
                };
                let response = RpcError::new(code, error.to_string());
                ErrorResponse::Rpc(match unknown_kind_name(*kind) {
                    Some(kind) => response.with_data(json!({ UNKNOWN_KEY: { "kind": kind, "name": name } })),
                    None => response,
                })
            }
            (Error::Unauthorized { scopes }, _) => ErrorResponse::Rpc(
                RpcError::new(error.code(), error.public_message()).with_data(json!({"scopes": scopes})),
            ),
            (Error::Rpc(error), _) => ErrorResponse::Rpc(error.clone()),
            (Error::Internal(_) | Error::Transport(_) | Error::Malformed(_), _) => {
                ErrorResponse::Rpc(RpcError::new(error.code(), self.message(error)))
            }
            (error, _) => ErrorResponse::Rpc(RpcError::new(error.code(), error.public_message())),
        }
    }

    fn invalid_params(self, invalid: &InvalidParams, request: RequestKind) -> ErrorResponse {
        match (self.policy, self.arguments, request) {
            (ErrorPolicy::Specification, ArgumentErrors::Result, RequestKind::Tool) => {
                let issues = json!({"issues": invalid.issues});
                ErrorResponse::Result(
                    CallToolResult::error(invalid.message.clone())
                        .with_meta(meta(INVALID_PARAMS_KEY, &issues)),
                )
            }
            _ => {
                let error = RpcError::invalid_params(invalid.message.clone());
                let issues = !invalid.issues.is_empty();
                ErrorResponse::Rpc(if issues {
                    error.with_data(json!({"issues": invalid.issues}))
                } else {
                    error
                })
            }
        }
    }

    /// Returns the message of an internal error.
    fn message(self, error: &Error) -> String {
        let source = error.source();
        match (self.details, source) {
            (ErrorDetails::Shown, Some(source)) => format!("{error}: {source}"),
            (ErrorDetails::Shown, None) => error.to_string(),
            (ErrorDetails::Hidden, _) => error.public_message(),
        }
    }
}

/// Returns the name of an item kind in the data of a JSON-RPC error.
pub(super) fn unknown_kind_name(kind: ItemKind) -> Option<&'static str> {
    match kind {
        ItemKind::Tool => Some("tool"),
        ItemKind::Prompt => Some("prompt"),
        ItemKind::Resource => Some("resource"),
        _ => None,
    }
}

fn failed_result(own: &ToolError) -> CallToolResult {
    CallToolResult::error(own.message.clone()).with_meta(meta(ERROR_KEY, own))
}

fn tool_rpc_error(code: ErrorCode, own: &ToolError) -> RpcError {
    match Raw::encode(own) {
        Ok(data) => RpcError::new(code, own.message.clone()).with_data(data),
        Err(_) => RpcError::new(code, own.message.clone()),
    }
}

/// Creates a `_meta` object with one key; without it if the value cannot be encoded, which leaves the message.
fn meta<T: Serialize>(key: &str, value: &T) -> Meta {
    let mut meta = Meta::new();
    if let Ok(value) = Raw::encode(value) {
        meta.insert(key, value);
    }
    meta
}
