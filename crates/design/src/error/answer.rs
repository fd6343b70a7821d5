//! How an error is told to the caller.
//!
//! | what went wrong | [`ErrorPolicy::Specification`] | [`ErrorPolicy::Codes`] |
//! |---|---|---|
//! | arguments of a tool | by [`ArgumentErrors`]: failed result, or -32602 | -32602 |
//! | arguments of anything else | -32602 | -32602 |
//! | unknown tool, prompt, resource | -32602 | -32601 |
//! | unknown method | -32601 | -32601 |
//! | the service's own error, in a tool | failed result | by its name: -32602 for `invalid_params`, -32601 for `method_not_found`, else -32603 |
//! | the service's own error, elsewhere | by its name | by its name |
//! | `not_found`, in a resource | -32002, which newer revisions tell as -32602 | the same |
//! | `not_found`, in a prompt | -32602 | -32602 |
//! | denied resource | -32602 | -32602 |
//! | missing scopes | -32600 | -32600 |
//! | what a peer said | as it was said | as it was said |
//! | anything else | -32603 | -32603 |
//!
//! An unknown resource is told with its URI as data, by which the protocol finds the code that older revisions have for
//! it. Invariant: an answer depends on the error, the rules and what was asked, and on nothing else; streamed or not, it
//! is the same.

use serde::Serialize;
use serde_json::json;
use switchboard_protocol::{CallToolResult, ErrorCode, Meta, Raw, RpcError};

use super::{
    ERROR_KEY, Error, INVALID_PARAMS, INVALID_PARAMS_KEY, InvalidParams, NOT_FOUND, ToolError, UNKNOWN_KEY,
};
use crate::check::ItemKind;

/// Who is told what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorRules {
    /// Which table.
    pub policy: ErrorPolicy,
    /// How arguments of a tool that do not fit are told.
    pub arguments: ArgumentErrors,
    /// Whether the text of our own failures is told.
    pub details: Details,
}

/// Which table of errors holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ErrorPolicy {
    /// The specification's: what a model can do something about is a failed result.
    #[default]
    Specification,
    /// Every error is a code of JSON-RPC, for callers that look at codes alone.
    Codes,
}

/// How arguments of a tool that do not fit are told, under [`ErrorPolicy::Specification`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ArgumentErrors {
    /// As a failed result, which the model reads.
    #[default]
    Result,
    /// As -32602, for revisions that say so.
    Code,
}

/// Whether callers see the text of failures that are not theirs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Details {
    /// Only that something failed.
    #[default]
    Hidden,
    /// What failed, to find out why.
    Shown,
}

/// What was asked for when something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asked {
    /// To call a tool, whose result can say that it failed.
    Tool,
    /// To read a resource.
    Resource,
    /// To fill in a prompt.
    Prompt,
    /// Anything else.
    Other,
}

/// What the caller is told.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// A failed result of a tool.
    Result(CallToolResult),
    /// A JSON-RPC error.
    Rpc(RpcError),
}

impl ErrorRules {
    /// The rules of a policy.
    pub fn new(policy: ErrorPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// The same, with arguments that do not fit told this way.
    #[must_use]
    pub fn with_arguments(mut self, arguments: ArgumentErrors) -> Self {
        self.arguments = arguments;
        self
    }

    /// The same, with or without details.
    #[must_use]
    pub fn with_details(mut self, details: Details) -> Self {
        self.details = details;
        self
    }

    /// What the caller is told.
    pub fn answer(self, error: &Error, asked: Asked) -> Answer {
        match (error, self.policy) {
            (Error::InvalidParams(invalid), _) => self.invalid(invalid, asked),
            (Error::Tool(own), policy) => match (own.code.as_str(), asked, policy) {
                (INVALID_PARAMS, _, ErrorPolicy::Specification) => {
                    self.invalid(&InvalidParams::new(own.message.clone()), asked)
                }
                (_, Asked::Tool, ErrorPolicy::Specification) => Answer::Result(failed(own)),
                (NOT_FOUND, Asked::Resource, _) => Answer::Rpc(coded(ErrorCode::RESOURCE_NOT_FOUND, own)),
                (NOT_FOUND, Asked::Prompt, _) => Answer::Rpc(coded(ErrorCode::INVALID_PARAMS, own)),
                _ => Answer::Rpc(coded(own.rpc_code(), own)),
            },
            (Error::Unknown { kind: ItemKind::Resource, name, .. }, ErrorPolicy::Specification) => {
                Answer::Rpc(
                    RpcError::new(ErrorCode::INVALID_PARAMS, error.to_string())
                        .with_data(json!({"uri": name})),
                )
            }
            (Error::Unknown { kind, name, .. }, policy) => {
                let code = match policy {
                    ErrorPolicy::Codes => ErrorCode::METHOD_NOT_FOUND,
                    ErrorPolicy::Specification => error.code(),
                };
                let told = RpcError::new(code, error.to_string());
                Answer::Rpc(match unknown_kind(*kind) {
                    Some(kind) => told.with_data(json!({ UNKNOWN_KEY: { "kind": kind, "name": name } })),
                    None => told,
                })
            }
            (Error::Unauthorised { scopes }, _) => Answer::Rpc(
                RpcError::new(error.code(), error.public_message()).with_data(json!({"scopes": scopes})),
            ),
            (Error::Rpc(error), _) => Answer::Rpc(error.clone()),
            (Error::Internal(_) | Error::Transport(_) | Error::Malformed(_), _) => {
                Answer::Rpc(RpcError::new(error.code(), self.told(error)))
            }
            (error, _) => Answer::Rpc(RpcError::new(error.code(), error.public_message())),
        }
    }

    fn invalid(self, invalid: &InvalidParams, asked: Asked) -> Answer {
        match (self.policy, self.arguments, asked) {
            (ErrorPolicy::Specification, ArgumentErrors::Result, Asked::Tool) => {
                let issues = json!({"issues": invalid.issues});
                Answer::Result(
                    CallToolResult::error(invalid.message.clone())
                        .with_meta(meta(INVALID_PARAMS_KEY, &issues)),
                )
            }
            _ => {
                let error = RpcError::invalid_params(invalid.message.clone());
                let issues = !invalid.issues.is_empty();
                Answer::Rpc(if issues { error.with_data(json!({"issues": invalid.issues})) } else { error })
            }
        }
    }

    /// The text of a failure that is not the caller's.
    fn told(self, error: &Error) -> String {
        let source = error.source();
        match (self.details, source) {
            (Details::Shown, Some(source)) => format!("{error}: {source}"),
            (Details::Shown, None) => error.to_string(),
            (Details::Hidden, _) => error.public_message(),
        }
    }
}

/// The error data that names the kind of the missing item.
pub(super) fn unknown_kind(kind: ItemKind) -> Option<&'static str> {
    match kind {
        ItemKind::Tool => Some("tool"),
        ItemKind::Prompt => Some("prompt"),
        ItemKind::Resource => Some("resource"),
        _ => None,
    }
}

fn failed(own: &ToolError) -> CallToolResult {
    CallToolResult::error(own.message.clone()).with_meta(meta(ERROR_KEY, own))
}

fn coded(code: ErrorCode, own: &ToolError) -> RpcError {
    match Raw::encode(own) {
        Ok(data) => RpcError::new(code, own.message.clone()).with_data(data),
        Err(_) => RpcError::new(code, own.message.clone()),
    }
}

/// A `_meta` with one key. What is told here is always JSON; if it were not, the text alone would be told.
fn meta<T: Serialize>(key: &str, value: &T) -> Meta {
    let mut meta = Meta::new();
    if let Ok(value) = Raw::encode(value) {
        meta.insert(key, value);
    }
    meta
}
