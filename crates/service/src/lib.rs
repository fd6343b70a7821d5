//! Serves and calls MCP services whose design is a Rust trait.
//!
//! How a request is served: the session passes it to the adapter, which looks up the tool, resource or prompt in the
//! [`Design`], checks the URI policy and the caller's scopes, and calls the service's generated [`Dispatch`] with the
//! item's index. [`Dispatch`] decodes the arguments, runs the author's method and converts the return value to a
//! result.
//!
//! **Invariants.** The [`Design`] is the only source for lists and decoding. Code that is generic over the author's
//! types ends in [`Dispatch`]. Dropping a call cancels it. Protocol eras do not appear in this crate.

mod adapter;
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
mod error_fields;
mod event_publisher;
mod events;
mod execution;
mod form;
mod form_field;
mod lossy_channel;
mod mixed_event;
mod options;
mod output;
mod prompt_messages;
#[cfg(feature = "rpc")]
pub mod rpc;
#[doc(hidden)]
pub mod rt;
mod serve;
mod stream_json;
pub mod task;
pub mod wire;

pub use args::Argument;
pub use builder::{BuildError, ServiceBuilder};
pub use bytes::{Base64Error, Bytes};
pub use changes::Changes;
pub use compose::{Collision, Collisions};
pub use contents::Contents;
pub use cx::{CallCx, Cx, FromCx, Progress, TestCx, TraceContext};
pub use dispatch::{Call, CallFuture, Dispatch};
pub use event_publisher::{EventFeed, EventPublisher};
pub use events::{EventReceiver, EventSink, Events, StreamEvent};
pub use form::{ElicitOutcome, Form};
pub use form_field::{FormChoice, FormValue};
pub use lossy_channel::LostEvents;
pub use mixed_event::MixedEvent;
pub use options::{StreamLimits, UnknownArguments, VersionPolicy};
pub use output::{FromOutput, IntoOutput, ResultEncoding, SUCCESS};
pub use prompt_messages::PromptMessages;
#[doc(hidden)]
pub use rt as __rt;
#[cfg(feature = "http")]
pub use serve::HttpServeConfig;
pub use serve::ServeError;
pub use stream_json::StreamJson;
pub use switchboard_design::{
    ArgumentErrors, Design, Error, ErrorPolicy, InvalidParams, OutputSchemaPolicy, Result, ServiceError,
    ToolError,
};
pub use switchboard_session::client::CallOptions;
pub use switchboard_session::server::layer::{AccessEvent, AccessEventKind};
