//! A Rust trait is the design of an MCP service: what runs it, serves it and calls it.
//!
//! The story of a call: a session's request reaches the adapter, which finds the tool, resource or prompt in the
//! [`Design`], checks policy and scopes, and hands the call by number to the service's [`Dispatch`], which the macro
//! wrote: it decodes the arguments, runs the author's method, and turns what it returns into a result.
//!
//! **Invariants.** The [`Design`] is the only source of what is listed and decoded. Everything generic in the author's
//! types ends in [`Dispatch`]. Dropping a call cancels it. No era is known here.

mod adapter;
mod adapter_event;
mod args;
mod builder;
mod bytes;
mod changes;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "client")]
pub mod client;
mod compose;
mod contents;
mod cx;
mod dispatch;
mod events;
mod field;
mod form;
mod lane;
mod options;
mod output;
mod piece;
mod prompt;
mod publish;
#[cfg(feature = "rpc")]
pub mod rpc;
#[doc(hidden)]
pub mod rt;
mod run;
mod serve;
mod stream_json;
pub mod task;
mod variant;
pub mod wire;

pub use adapter_event::{AdapterEvent, EventKind};
pub use args::Argument;
pub use builder::{BuildError, ServiceBuilder};
pub use bytes::{Base64Error, Bytes};
pub use changes::Changes;
pub use compose::{Collision, Collisions};
pub use contents::Contents;
pub use cx::{CallOptions, Cx, FromCx, Progress, TestCx, TraceContext};
pub use dispatch::{Call, Dispatch, Working};
pub use events::{Event, EventReceiver, EventSink, Events};
pub use field::{FormChoice, FormValue};
pub use form::{Answer, Form};
pub use lane::LostEvents;
pub use options::{StreamLimits, UnknownArguments, VersionPolicy};
pub use output::{FromOutput, IntoOutput, SUCCESS, Shape};
pub use piece::Piece;
pub use prompt::Prompt;
pub use publish::{EventFeed, EventsHandle};
#[doc(hidden)]
pub use rt as __rt;
pub use serve::ServeError;
#[cfg(feature = "http")]
pub use serve::ServeHttp;
pub use stream_json::StreamJson;
pub use switchboard_design::{
    ArgumentErrors, Design, Error, ErrorPolicy, InvalidParams, OutputSchemaPolicy, Result, ServiceError,
    ToolError,
};
