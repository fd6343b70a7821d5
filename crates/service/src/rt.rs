//! Items that generated code uses. Not public API: they change without notice.

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

#[cfg(feature = "cli")]
pub use crate::__keep as if_cli;
#[cfg(feature = "client")]
pub use crate::__keep as if_client;
#[cfg(feature = "rpc")]
pub use crate::__keep as if_rpc;
#[cfg(feature = "stdio")]
pub use crate::__keep as if_stdio;
#[cfg(not(feature = "cli"))]
pub use crate::__omit as if_cli;
#[cfg(not(feature = "client"))]
pub use crate::__omit as if_client;
#[cfg(not(feature = "rpc"))]
pub use crate::__omit as if_rpc;
#[cfg(not(feature = "stdio"))]
pub use crate::__omit as if_stdio;
pub use crate::Bytes;
pub use crate::args::{ArgsBuilder, Argument, ArgumentReader};
#[cfg(feature = "cli")]
pub use crate::cli::{command, run_cli};
#[cfg(feature = "client")]
pub use crate::client::{CallArguments, CallStream, ServiceCaller};
pub use crate::error_fields::ErrorFields;
pub use crate::execution::{run_blocking, run_shielded};
pub use crate::form_field::{FormChoice, FormFieldBuilder, FormValue, choice_field, form_field, form_schema};
#[cfg(feature = "rpc")]
pub use crate::rpc::RpcCaller;
pub use crate::{
    Call, CallFuture, CallOptions, Changes, Contents, Cx, Dispatch, EventFeed, EventPublisher, EventSink,
    Events, Form, FromOutput, IntoOutput, PromptMessages, ServeError, ServiceBuilder, ServiceError,
    StreamEvent,
};
#[cfg(feature = "cli")]
pub use clap;
pub use method_types::{MethodArgument, MethodError, MethodEvent, MethodResult, NotificationPayload};

/// Expands to its input: generated code that needs a feature of this crate, which is on. A `cfg` in generated code would
/// test the author's features.
#[doc(hidden)]
#[macro_export]
macro_rules! __keep {
    ($($tokens:tt)*) => { $($tokens)* };
}

/// Expands to nothing: generated code that needs a feature of this crate, which is off.
#[doc(hidden)]
#[macro_export]
macro_rules! __omit {
    ($($tokens:tt)*) => {};
}

/// The newest protocol revision.
pub const NEWEST_PROTOCOL: &str = switchboard_protocol::Revision::LATEST.as_str();

/// Returns the definition of arguments that are the fields of one type. A type that is not a JSON object keeps its
/// schema, and the design check reports it with all other mistakes.
fn args_of_type<A: JsonSchema>(order: &[&str]) -> ArgsDef {
    match ArgsDef::from_type::<A>() {
        Ok(args) => args.with_order(order.iter().copied()),
        Err(_) => ArgsDef::verbatim(
            SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<A>().to_value(),
        ),
    }
}

/// How a method declares its arguments.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "built once per method and consumed at once")]
pub enum ArgsSpec {
    /// One by one.
    Each(ArgsBuilder),
    /// As the fields of one type; the function returns its definition.
    Fields(fn(&[&str]) -> ArgsDef),
}

impl ArgsSpec {
    /// Declares the fields of `A` as the arguments.
    pub fn fields_of<A: JsonSchema>() -> Self {
        Self::Fields(args_of_type::<A>)
    }

    fn into_def(self) -> ArgsDef {
        match self {
            Self::Each(args) => args.into_def(),
            Self::Fields(define) => define(&[]),
        }
    }

    /// Converts the arguments to parameters that are sent as text.
    ///
    /// # Panics
    /// When an argument cannot be sent as text; the message names it.
    fn into_params(self, method: &str) -> Vec<ParamDef> {
        params(method, &self.into_def())
    }
}

impl From<ArgsBuilder> for ArgsSpec {
    fn from(args: ArgsBuilder) -> Self {
        Self::Each(args)
    }
}

fn params(method: &str, args: &ArgsDef) -> Vec<ParamDef> {
    match ParamDef::from_args(args) {
        Ok(params) => params,
        Err(error) => panic!(
            "in `{method}`: {error}; only types that convert to text can be arguments of a resource or prompt"
        ),
    }
}

/// Defines a tool named after its method.
pub fn tool<A: JsonSchema, O: IntoOutput>(rust_name: &str, description: &str, order: &[&str]) -> ToolDef {
    build_tool(rust_name, description, args_of_type::<A>(order), O::describe())
}

/// Defines a tool with these arguments.
pub fn tool_with_args(
    rust_name: &str,
    description: &str,
    args: impl Into<ArgsSpec>,
    output: OutputDef,
) -> ToolDef {
    build_tool(rust_name, description, args.into().into_def(), output)
}

fn build_tool(rust_name: &str, description: &str, args: ArgsDef, output: OutputDef) -> ToolDef {
    ToolDef::new(rust_name, description).with_args(args).with_output(output)
}

/// Returns the definition of arguments with a handwritten schema, which is listed unchanged.
///
/// # Panics
/// When `schema` is not JSON.
pub fn args_with_schema(rust_name: &str, schema: &str) -> ArgsDef {
    match serde_json::from_str(schema) {
        Ok(schema) => ArgsDef::verbatim(schema),
        Err(error) => panic!("the `schema` of `{rust_name}` must be JSON: {error}"),
    }
}

/// Defines a resource named after its method.
pub fn resource<A: JsonSchema, O: IntoOutput>(
    rust_name: &str,
    uri: &str,
    description: &str,
    order: &[&str],
) -> ResourceDef {
    let params = params(rust_name, &args_of_type::<A>(order));
    build_resource(rust_name, uri, description, params, O::describe())
}

/// Defines a resource with these arguments.
pub fn resource_with_args(
    rust_name: &str,
    uri: &str,
    description: &str,
    args: impl Into<ArgsSpec>,
    output: OutputDef,
) -> ResourceDef {
    build_resource(rust_name, uri, description, args.into().into_params(rust_name), output)
}

fn build_resource(
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

/// Defines a prompt named after its method.
pub fn prompt<A: JsonSchema>(rust_name: &str, description: &str, order: &[&str]) -> PromptDef {
    let params = params(rust_name, &args_of_type::<A>(order));
    PromptDef::new(rust_name, description).with_arguments(params)
}

/// Defines a prompt with these arguments.
pub fn prompt_with_args(rust_name: &str, description: &str, args: impl Into<ArgsSpec>) -> PromptDef {
    PromptDef::new(rust_name, description).with_arguments(args.into().into_params(rust_name))
}

/// Defines an event named after its method.
pub fn notification<T: JsonSchema>(rust_name: &str, description: &str) -> NotificationDef {
    let payload = OutputDef::from_type::<T>().schema().cloned().unwrap_or(serde_json::Value::Bool(true));
    NotificationDef::new(rust_name, description, payload)
}

/// Defines a method that is not mapped to MCP.
pub fn method<A: JsonSchema, O: IntoOutput>(rust_name: &str, description: &str, order: &[&str]) -> MethodDef {
    build_method(rust_name, description, args_of_type::<A>(order), O::describe())
}

/// Defines a method that is not mapped to MCP, with these arguments.
pub fn method_with_args(
    rust_name: &str,
    description: &str,
    args: impl Into<ArgsSpec>,
    output: OutputDef,
) -> MethodDef {
    build_method(rust_name, description, args.into().into_def(), output)
}

fn build_method(rust_name: &str, description: &str, args: ArgsDef, output: OutputDef) -> MethodDef {
    let method = MethodDef::new(rust_name).with_args(args).with_output(output);
    if description.is_empty() { method } else { method.with_description(description) }
}

/// Calls each constructor in turn, so that only one value at a time is on the stack.
pub fn construct_each<T>(constructors: &[fn() -> T]) -> Vec<T> {
    constructors.iter().map(|construct| construct()).collect()
}

/// Encodes a default for the design; `null` if it cannot be encoded.
pub fn default_json<T: serde::Serialize>(default: &T) -> serde_json::Value {
    serde_json::to_value(default).unwrap_or_default()
}

/// Returns the first paragraph of a text on one line.
pub fn first_paragraph(text: &str) -> String {
    let lines = text.trim().lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// Returns the text after the first paragraph.
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

/// Returns the body of a prompt whose text is in the design.
pub fn static_prompt(text: impl Into<String>) -> switchboard_design::PromptBody {
    let message = switchboard_design::PromptText::new(switchboard_protocol::Role::User, text);
    switchboard_design::PromptBody::Static { messages: vec![message] }
}

/// Names the two types of a `Result`, including one behind an alias.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result`",
    note = "a method of a service returns `Result<T>`: over a connection, every call can fail"
)]
pub trait MethodReturn {
    /// The success type.
    type Value;
    /// The error type.
    type Error;
}

impl<T, E> MethodReturn for Result<T, E> {
    type Value = T;
    type Error = E;
}

/// Converts the return value of a tool to its result.
pub fn tool_result<T: IntoOutput, E: ServiceError>(
    returned: Result<T, E>,
    call: &Call,
) -> Result<CallToolResult, Error> {
    returned.map_err(ServiceError::into_error)?.into_tool_result(call.encoding)
}

/// Converts the return value of a resource to its contents.
pub fn contents<T: IntoOutput, E: ServiceError>(returned: Result<T, E>) -> Result<Contents, Error> {
    returned.map_err(ServiceError::into_error)?.into_contents()
}

/// Converts the return value of a method to JSON.
pub fn json<T: IntoOutput, E: ServiceError>(returned: Result<T, E>) -> Result<Raw, Error> {
    returned.map_err(ServiceError::into_error)?.into_json()
}

/// Converts the error of a return value.
pub fn plain<T, E: ServiceError>(returned: Result<T, E>) -> Result<T, Error> {
    returned.map_err(ServiceError::into_error)
}

/// Returns the error of a method that is not mapped to MCP.
pub fn unmapped(method: &str) -> Error {
    Error::Unmapped { method: method.to_owned() }
}

/// Fails because the design has no item with the requested index.
pub fn unknown_index<T: Send + 'static>() -> CallFuture<T> {
    Box::pin(async { Err(Error::internal("the design and its dispatch disagree")) })
}
