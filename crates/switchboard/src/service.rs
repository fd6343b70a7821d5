//! Services: a Rust trait is the design of a server.
//!
//! The attribute [`service`](macro@crate::service) turns a trait into a server, a typed client and a [`Design`]. This module holds
//! the types that the methods of a service use.
//!
//! ```
//! use switchboard::service::{Cx, Deserialize, JsonSchema, Result, Serialize};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! pub struct Sum {
//!     sum: i64,
//! }
//!
//! /// Calculates.
//! #[switchboard::service(name = "calculator", version = "1.0.0")]
//! pub trait Calculator {
//!     /// Adds two numbers.
//!     #[tool(read_only)]
//!     async fn add(&self, cx: &Cx, a: i64, b: i64) -> Result<Sum>;
//! }
//!
//! struct Exact;
//!
//! impl Calculator for Exact {
//!     async fn add(&self, _: &Cx, a: i64, b: i64) -> Result<Sum> {
//!         Ok(Sum { sum: a + b })
//!     }
//! }
//!
//! // Instead of `build`: `serve_stdio`, `serve_http`, or `connect` for a session in this program.
//! let server = CalculatorServer::builder(Exact).build()?;
//! # drop(server);
//! # Ok::<(), switchboard::service::BuildError>(())
//! ```

#[doc(inline)]
pub use switchboard_design as design;
pub use switchboard_macros::{Form, FormChoice, ServiceError};
#[cfg(feature = "http-server")]
pub use switchboard_service::HttpServeConfig;
#[cfg(feature = "service-cli")]
pub use switchboard_service::cli;
#[cfg(feature = "service-client")]
pub use switchboard_service::client;
#[cfg(feature = "service-rpc")]
pub use switchboard_service::rpc;
pub use switchboard_service::rt::schemars::JsonSchema;
pub use switchboard_service::rt::serde::{Deserialize, Serialize};
pub use switchboard_service::{
    AccessEvent, AccessEventKind, Argument, ArgumentErrors, Base64Error, BuildError, Bytes, Call, CallCx,
    CallFuture, CallOptions, Changes, Collision, Collisions, Contents, Cx, Design, Dispatch, ElicitOutcome,
    Error, ErrorPolicy, EventFeed, EventPublisher, EventReceiver, EventSink, Events, Form, FormChoice,
    FormValue, FromCx, FromOutput, IntoOutput, InvalidParams, LostEvents, MixedEvent, OutputSchemaPolicy,
    Progress, PromptMessages, Result, ResultEncoding, SUCCESS, ServeError, ServiceBuilder, ServiceError,
    StreamEvent, StreamJson, StreamLimits, TestCx, ToolError, TraceContext, UnknownArguments, VersionPolicy,
    task, wire,
};

pub mod prelude;
