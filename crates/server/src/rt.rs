//! What the code that the macro writes refers to. Not for people: it changes without notice.

pub use schemars;
pub use serde;
pub use serde_json;
pub use switchboard_design as design;
pub use switchboard_protocol as protocol;
pub use switchboard_session::ClientSession;

use schemars::JsonSchema;
use switchboard_design::{
    ArgsDef, Error, MethodDef, NotificationDef, OutputDef, ParamDef, PromptDef, ResourceDef, ToolDef,
};
use switchboard_protocol::{CallToolResult, Raw};

pub use crate::__if_cli as if_cli;
pub use crate::__if_client as if_client;
pub use crate::__if_rpc as if_rpc;
#[cfg(feature = "cli")]
pub use crate::cli::{command, run_cli};
#[cfg(feature = "client")]
pub use crate::client::{Arguments, CallStream, Caller};
#[cfg(feature = "rpc")]
pub use crate::rpc::RpcCaller;
pub use crate::{
    Call, CallOptions, Changes, Contents, Cx, Dispatch, Event, EventFeed, EventSink, Events, EventsHandle,
    FromOutput, IntoOutput, Prompt, ServiceBuilder, ServiceError, Working,
};
#[cfg(feature = "cli")]
pub use clap;

/// Yields its input when this crate has the client half, else nothing: a `cfg` would ask the author's features.
#[cfg(feature = "client")]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_client {
    ($($tokens:tt)*) => { $($tokens)* };
}

/// Yields nothing: this crate has no client half.
#[cfg(not(feature = "client"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_client {
    ($($tokens:tt)*) => {};
}

/// Yields its input when this crate has command lines, else nothing.
#[cfg(feature = "cli")]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_cli {
    ($($tokens:tt)*) => { $($tokens)* };
}

/// Yields nothing: this crate has no command lines.
#[cfg(not(feature = "cli"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_cli {
    ($($tokens:tt)*) => {};
}

/// Yields its input when this crate has the plain endpoint, else nothing.
#[cfg(feature = "rpc")]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_rpc {
    ($($tokens:tt)*) => { $($tokens)* };
}

/// Yields nothing: this crate has no plain endpoint.
#[cfg(not(feature = "rpc"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_rpc {
    ($($tokens:tt)*) => {};
}

/// The arguments of a method, with their names in order of declaration.
///
/// # Panics
/// When the type is not an object in JSON: only `#[args]` can be that, and the message says so.
fn args<A: JsonSchema>(method: &str, order: &[&str]) -> ArgsDef {
    match ArgsDef::of::<A>() {
        Ok(args) => args.with_order(order.iter().copied()),
        Err(error) => panic!("the `#[args]` of `{method}` must be a struct with named fields: {error}"),
    }
}

/// Parameters that travel as text.
///
/// # Panics
/// When one cannot, with its name.
fn params<A: JsonSchema>(method: &str, order: &[&str]) -> Vec<ParamDef> {
    match ParamDef::all(&args::<A>(method, order)) {
        Ok(params) => params,
        Err(error) => panic!("in `{method}`: {error}; only such can stand in a URI or a prompt"),
    }
}

/// A tool; its name is the method's unless it is set.
pub fn tool<A: JsonSchema, O: IntoOutput>(rust_name: &str, description: &str, order: &[&str]) -> ToolDef {
    ToolDef::new(rust_name, description).with_args(args::<A>(rust_name, order)).with_output(O::describe())
}

/// A resource; its name is the method's unless it is set.
pub fn resource<A: JsonSchema, O: IntoOutput>(
    rust_name: &str,
    uri: &str,
    description: &str,
    order: &[&str],
) -> ResourceDef {
    let output = O::describe();
    let is_data = matches!(output, OutputDef::Structured { .. });
    let resource = ResourceDef::new(rust_name, uri, description)
        .with_params(params::<A>(rust_name, order))
        .with_output(output);
    if is_data { resource.with_mime("application/json") } else { resource }
}

/// A prompt; its name is the method's unless it is set.
pub fn prompt<A: JsonSchema>(rust_name: &str, description: &str, order: &[&str]) -> PromptDef {
    PromptDef::new(rust_name, description).with_arguments(params::<A>(rust_name, order))
}

/// An event; its name is the method's unless it is set.
pub fn notification<T: JsonSchema>(rust_name: &str, description: &str) -> NotificationDef {
    let payload = OutputDef::of::<T>().schema().cloned().unwrap_or(serde_json::Value::Bool(true));
    NotificationDef::new(rust_name, description, payload)
}

/// A method without a role in MCP.
pub fn method<A: JsonSchema, O: IntoOutput>(rust_name: &str, description: &str, order: &[&str]) -> MethodDef {
    MethodDef::new(rust_name)
        .with_description(description)
        .with_args(args::<A>(rust_name, order))
        .with_output(O::describe())
}

/// What a tool returned, as its result.
pub fn tool_result<T: IntoOutput, E: ServiceError>(
    returned: Result<T, E>,
    call: &Call,
) -> Result<CallToolResult, Error> {
    returned.map_err(ServiceError::into_error)?.into_shaped(call.shape)
}

/// What a resource returned, as its contents.
pub fn contents<T: IntoOutput, E: ServiceError>(returned: Result<T, E>) -> Result<Contents, Error> {
    returned.map_err(ServiceError::into_error)?.into_contents()
}

/// What a method returned, as JSON.
pub fn json<T: IntoOutput, E: ServiceError>(returned: Result<T, E>) -> Result<Raw, Error> {
    returned.map_err(ServiceError::into_error)?.into_json()
}

/// What a method returned, as it is.
pub fn plain<T, E: ServiceError>(returned: Result<T, E>) -> Result<T, Error> {
    returned.map_err(ServiceError::into_error)
}

/// For a number that the design does not have: whoever serves a design asks for what is in it.
pub fn no_such<T: Send + 'static>() -> Working<T> {
    Box::pin(async { Err(Error::internal("the design and its dispatch disagree")) })
}
