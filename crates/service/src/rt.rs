//! What the code that the macro writes refers to. Not for people: it changes without notice.

mod method_types;

pub use schemars;
pub use serde;
pub use serde_json;
pub use switchboard_design as design;
pub use switchboard_design::{Error, InvalidParams};
pub use switchboard_protocol as protocol;
pub use switchboard_session::ClientSession;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use switchboard_design::{
    ArgsDef, MethodDef, NotificationDef, OutputDef, ParamDef, PromptDef, ResourceDef, ToolDef,
};
use switchboard_protocol::{CallToolResult, Raw};

pub use crate::Bytes;
pub use crate::args::{Args, Argument, Given};
#[cfg(feature = "cli")]
pub use crate::cli::{command, run_cli};
#[cfg(feature = "client")]
pub use crate::client::{Arguments, CallStream, Caller};
pub use crate::field::{Field, FormChoice, FormValue, choice, field, form};
#[cfg(feature = "rpc")]
pub use crate::rpc::RpcCaller;
pub use crate::run::{blocking, shielded};
pub use crate::variant::Variant;
pub use crate::{__if_cli as if_cli, __if_client as if_client, __if_rpc as if_rpc, __if_stdio as if_stdio};
pub use crate::{
    Call, CallOptions, Changes, Contents, Cx, Dispatch, Event, EventFeed, EventSink, Events, EventsHandle,
    Form, FromOutput, IntoOutput, Prompt, ServeError, ServiceBuilder, ServiceError, Working,
};
#[cfg(feature = "cli")]
pub use clap;
pub use method_types::{MethodArgument, MethodError, MethodEvent, MethodResult, NotificationPayload};

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

/// Yields its input when this crate serves over stdio, else nothing.
#[cfg(feature = "stdio")]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_stdio {
    ($($tokens:tt)*) => { $($tokens)* };
}

/// Yields nothing: this crate does not serve over stdio.
#[cfg(not(feature = "stdio"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __if_stdio {
    ($($tokens:tt)*) => {};
}

/// The newest revision of the protocol.
pub const NEWEST_PROTOCOL: &str = switchboard_protocol::Revision::LATEST.as_str();

/// The arguments of a method whose whole object is one type. A type that is not an object in JSON is kept as it is:
/// the check of the design reports it, with everything else.
fn whole<A: JsonSchema>(_method: &str, order: &[&str]) -> ArgsDef {
    match ArgsDef::from_type::<A>() {
        Ok(args) => args.with_order(order.iter().copied()),
        Err(_) => ArgsDef::verbatim(
            SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<A>().to_value(),
        ),
    }
}

/// What a method takes: gathered argument by argument, or one type.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "made once for a method, and read at once")]
pub enum Takes {
    /// Gathered.
    Each(Args),
    /// The schema of one type, made for the method of this name.
    Whole(fn(&str, &[&str]) -> ArgsDef),
}

impl Takes {
    /// The fields of this type.
    pub fn whole<A: JsonSchema>() -> Self {
        Self::Whole(whole::<A>)
    }

    fn into_def(self, method: &str) -> ArgsDef {
        match self {
            Self::Each(args) => args.into_def(),
            Self::Whole(make) => make(method, &[]),
        }
    }

    /// As parameters that travel as text.
    ///
    /// # Panics
    /// When one cannot, with its name.
    fn into_params(self, method: &str) -> Vec<ParamDef> {
        params(method, &self.into_def(method))
    }
}

impl From<Args> for Takes {
    fn from(args: Args) -> Self {
        Self::Each(args)
    }
}

fn params(method: &str, args: &ArgsDef) -> Vec<ParamDef> {
    match ParamDef::from_args(args) {
        Ok(params) => params,
        Err(error) => panic!("in `{method}`: {error}; only such can stand in a URI or a prompt"),
    }
}

/// A tool; its name is the method's unless it is set.
pub fn tool<A: JsonSchema, O: IntoOutput>(rust_name: &str, description: &str, order: &[&str]) -> ToolDef {
    tool_of(rust_name, description, whole::<A>(rust_name, order), O::describe())
}

/// A tool that takes this.
pub fn tool_taking(
    rust_name: &str,
    description: &str,
    takes: impl Into<Takes>,
    output: OutputDef,
) -> ToolDef {
    tool_of(rust_name, description, takes.into().into_def(rust_name), output)
}

fn tool_of(rust_name: &str, description: &str, args: ArgsDef, output: OutputDef) -> ToolDef {
    ToolDef::new(rust_name, description).with_args(args).with_output(output)
}

/// Arguments whose schema was written by hand: listed as it is.
///
/// # Panics
/// When it is not JSON.
pub fn written(rust_name: &str, schema: &str) -> ArgsDef {
    match serde_json::from_str(schema) {
        Ok(schema) => ArgsDef::verbatim(schema),
        Err(error) => panic!("the `schema` of `{rust_name}` must be JSON: {error}"),
    }
}

/// A resource; its name is the method's unless it is set.
pub fn resource<A: JsonSchema, O: IntoOutput>(
    rust_name: &str,
    uri: &str,
    description: &str,
    order: &[&str],
) -> ResourceDef {
    let params = params(rust_name, &whole::<A>(rust_name, order));
    resource_of(rust_name, uri, description, params, O::describe())
}

/// A resource that takes this.
pub fn resource_taking(
    rust_name: &str,
    uri: &str,
    description: &str,
    takes: impl Into<Takes>,
    output: OutputDef,
) -> ResourceDef {
    resource_of(rust_name, uri, description, takes.into().into_params(rust_name), output)
}

fn resource_of(
    rust_name: &str,
    uri: &str,
    description: &str,
    params: Vec<ParamDef>,
    output: OutputDef,
) -> ResourceDef {
    let is_data = matches!(&output, OutputDef::Structured { schema } if !crate::bytes::is_base64(schema));
    let resource = ResourceDef::new(rust_name, uri, description).with_params(params).with_output(output);
    if is_data { resource.with_mime("application/json") } else { resource }
}

/// A prompt; its name is the method's unless it is set.
pub fn prompt<A: JsonSchema>(rust_name: &str, description: &str, order: &[&str]) -> PromptDef {
    let params = params(rust_name, &whole::<A>(rust_name, order));
    PromptDef::new(rust_name, description).with_arguments(params)
}

/// A prompt that takes this.
pub fn prompt_taking(rust_name: &str, description: &str, takes: impl Into<Takes>) -> PromptDef {
    PromptDef::new(rust_name, description).with_arguments(takes.into().into_params(rust_name))
}

/// An event; its name is the method's unless it is set.
pub fn notification<T: JsonSchema>(rust_name: &str, description: &str) -> NotificationDef {
    let payload = OutputDef::from_type::<T>().schema().cloned().unwrap_or(serde_json::Value::Bool(true));
    NotificationDef::new(rust_name, description, payload)
}

/// A method without a role in MCP.
pub fn method<A: JsonSchema, O: IntoOutput>(rust_name: &str, description: &str, order: &[&str]) -> MethodDef {
    method_of(rust_name, description, whole::<A>(rust_name, order), O::describe())
}

/// A method without a role in MCP that takes this.
pub fn method_taking(
    rust_name: &str,
    description: &str,
    takes: impl Into<Takes>,
    output: OutputDef,
) -> MethodDef {
    method_of(rust_name, description, takes.into().into_def(rust_name), output)
}

fn method_of(rust_name: &str, description: &str, args: ArgsDef, output: OutputDef) -> MethodDef {
    let method = MethodDef::new(rust_name).with_args(args).with_output(output);
    if description.is_empty() { method } else { method.with_description(description) }
}

/// Makes each, so that no more than one at a time stands on the stack.
pub fn each<T>(make: &[fn() -> T]) -> Vec<T> {
    make.iter().map(|make| make()).collect()
}

/// A default, as JSON for the design; none when it cannot be written.
pub fn default_json<T: serde::Serialize>(default: &T) -> serde_json::Value {
    serde_json::to_value(default).unwrap_or_default()
}

/// The first paragraph of a text, on one line.
pub fn first_paragraph(text: &str) -> String {
    let lines = text.trim().lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// What follows the first paragraph.
pub fn other_paragraphs(text: &str) -> &str {
    let text = text.trim();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            return text[start..].trim();
        }
        start += line.len();
    }
    ""
}

/// The body of a prompt that the design has.
pub fn static_prompt(text: impl Into<String>) -> switchboard_design::PromptBody {
    let message = switchboard_design::PromptText::new(switchboard_protocol::Role::User, text);
    switchboard_design::PromptBody::Static { messages: vec![message] }
}

/// What a method returns, taken apart where its author wrote an alias.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result`",
    note = "a method of a service returns `Result<T>`: over a connection, every call can fail"
)]
pub trait Returned {
    /// What it returns when all goes well.
    type Value;
    /// What it returns when it fails.
    type Error;
}

impl<T, E> Returned for Result<T, E> {
    type Value = T;
    type Error = E;
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

/// The error of a method without a role in MCP, called over MCP alone.
pub fn unmapped(method: &str) -> Error {
    Error::Unmapped { method: method.to_owned() }
}

/// For a number that the design does not have: whoever serves a design asks for what is in it.
pub fn no_such<T: Send + 'static>() -> Working<T> {
    Box::pin(async { Err(Error::internal("the design and its dispatch disagree")) })
}
