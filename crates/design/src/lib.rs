//! The serializable description of an MCP service, and the pure functions on it. No I/O, no async, no sessions.
//!
//! 1. A macro or a program describes a service as a [`Design`]: tools, resources, prompts and notifications, with schemas.
//! 2. [`schema`] normalizes the schemas, so that every client accepts them, and validates values.
//! 3. [`Design::check`] reports all errors of a design with their locations.
//! 4. [`Design::list_tools`] and similar methods return the protocol types for MCP lists.
//! 5. A [`Route`] decodes arguments from a URI, a [`UriPolicy`] restricts the URIs, and a [`Repair`] tells a caller how to
//!    correct invalid arguments.
//! 6. Methods fail with an [`Error`]; [`ErrorRules`] encodes it as a response, and the client decodes the same error.
//! 7. A [`Lock`] stores the published design, and [`diff`] finds the breaking changes of a new one.
//!
//! **Invariants.** All lists, decoding and documentation are derived from the design. Lists keep the order of declaration.
//! Output is deterministic. Nothing here depends on a protocol revision.
//!
//! ```
//! use serde_json::json;
//! use switchboard::service::design::{ArgsDef, Design, OutputSchemaPolicy, ToolDef};
//!
//! let args = ArgsDef::new(json!({
//!     "type": "object",
//!     "properties": {"zone": {"type": ["string", "null"], "description": "Like Europe/Oslo"}},
//! }))?;
//! let design = Design::new("clock", "1.0.0").with_tools([ToolDef::new("now", "The time in a zone").with_args(args)]);
//! design.check()?;
//!
//! let listed = serde_json::to_value(design.list_tools(OutputSchemaPolicy::ObjectsOnly))?;
//! assert_eq!(listed[0]["inputSchema"]["properties"]["zone"]["type"], "string"); // optional, so `null` is removed
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod error;
mod example;
mod flags;
mod ir;
mod listing;
mod lock;
mod nearest;
mod percent;
mod quickstart;
mod repair;
pub mod schema;
#[cfg(test)]
mod tests;
mod uri;
mod uri_syntax;

pub use check::{DesignError, DesignErrorKind, DesignErrors, DesignLocation, ItemKind};
pub use error::{
    ArgumentErrors, ERROR_KEY, Error, ErrorDetails, ErrorPolicy, ErrorResponse, ErrorRules,
    INVALID_PARAMS_KEY, InvalidParams, RequestKind, Result, ServiceError, ToolError,
};
pub use example::{Example, ExampleOrigin, example};
pub use flags::{Flag, FlagKind, shell_line, shell_word};
pub use ir::{
    ArgsDef, CompletionDef, CompletionTarget, Design, MethodDef, MethodScope, NestedParamError,
    NotificationDef, OutputDef, ParamDef, ParamKind, PromptBody, PromptDef, PromptText, ResourceDef,
    TaskRule, ToolDef, WatchDef,
};
pub use listing::OutputSchemaPolicy;
pub use lock::{Change, ChangeClass, Lock, LockError, diff};
pub use nearest::edit_distance;
pub use quickstart::{QUICKSTART_MARKER, Quickstart};
pub use repair::{Issue, Operation, Recovery, RecoveryAction, Repair};
pub use uri::{
    EncodeError, GlobError, PatternError, ResourceUri, Route, UriError, UriPattern, UriPolicy, coerce,
    decode_query, encode_query,
};
