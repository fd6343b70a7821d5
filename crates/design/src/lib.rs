//! One serialisable description of a service, and the pure passes over it. No I/O, no async, no sessions.
//!
//! The story of a design:
//!
//! 1. Whatever reads a service (a macro over a trait, a program at run time) writes it down as a [`Design`]: tools,
//!    resources, prompts, events, with the schemas of what goes in and comes out.
//! 2. Schemas pass through [`schema`], which makes them ones that every client can read.
//! 3. [`Design::check`] tells all mistakes at once, with their places.
//! 4. [`Design::list_tools`] and its siblings say it in the words of the protocol.
//! 5. When a call comes, a [`Route`] reads the arguments out of a URI and a [`UriPolicy`] says whether it may be read;
//!    when arguments do not fit, a [`Repair`] tells the caller how they would.
//! 6. What goes wrong in a method is an [`Error`], which [`ErrorRules`] tell to the caller and the caller reads back.
//! 7. A [`Lock`] keeps what was promised, and [`diff`] tells what a new design breaks of it.
//!
//! **Invariants.** The design is the only source: whatever is listed, decoded, documented or compared is made from it.
//! Lists keep the order of declaration. The same design gives the same bytes. No revision of the protocol is known here.
//!
//! ```
//! use serde_json::json;
//! use switchboard::design::{ArgsDef, Design, OutputRule, ToolDef};
//!
//! let args = ArgsDef::new(json!({
//!     "type": "object",
//!     "properties": {"zone": {"type": ["string", "null"], "description": "Like Europe/Oslo"}},
//! }))?;
//! let design = Design::new("clock", "1.0.0").with_tools([ToolDef::new("now", "The time in a zone").with_args(args)]);
//! design.check()?;
//!
//! let listed = serde_json::to_value(design.list_tools(OutputRule::ObjectsOnly))?;
//! assert_eq!(listed[0]["inputSchema"]["properties"]["zone"]["type"], "string"); // optional, so null need not be said
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod document;
mod error;
mod example;
mod flags;
mod ir;
mod lock;
mod nearest;
mod percent;
mod project;
mod repair;
pub mod schema;
mod setter;
#[cfg(test)]
mod tests;
mod uri;

pub use check::{Fault, ItemKind, Mistake, Mistakes, Place};
pub use document::{QUICKSTART_MARKER, Quickstart};
pub use error::{
    Answer, ArgumentErrors, Asked, Details, ERROR_KEY, Error, ErrorPolicy, ErrorRules, INVALID_PARAMS_KEY,
    InvalidParams, Result, ServiceError, ToolError,
};
pub use example::{Example, ExampleOrigin, example};
pub use flags::{Flag, FlagKind, shell_line, shell_word};
pub use ir::{
    ArgsDef, CompletionDef, CompletionOf, Design, MethodDef, MethodScope, NotFlat, NotificationDef,
    OutputDef, ParamDef, ParamKind, PromptBody, PromptDef, PromptText, ResourceDef, TaskRule, ToolDef,
    WatchDef,
};
pub use lock::{Change, Class, Lock, LockError, diff};
pub use project::OutputRule;
pub use repair::{Issue, Operation, Recovery, RecoveryAction, Repair};
pub use uri::{
    EncodeError, GlobError, PatternError, ResourceUri, Route, UriError, UriPattern, UriPolicy, coerce,
    decode_query, encode_query,
};
