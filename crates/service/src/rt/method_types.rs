//! The types in the signature of a method, as generated code uses them: one trait per position.
//!
//! Invariant: generated code calls only these methods on an author's type. A type that lacks a derive then fails one
//! bound, `Type: MethodX`, where the type is written; the compiler drops repeated identical errors, and
//! `do_not_recommend` makes it report that bound instead of each missing derive. Hence one error per type.
//! Generated code calls the methods and never passes them as values: a function item carries its bound into the types of
//! futures and closures, where the compiler reports it again at another place.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use switchboard_design::{Error, NotificationDef, OutputDef, ServiceError};
use switchboard_protocol::{CallToolResult, Raw};

use crate::args::{ArgsBuilder, Argument, ArgumentReader};
#[cfg(feature = "client")]
use crate::client::{CallArguments, CallStream, ResourceOutput, ServiceCaller, ToolOutput};
use crate::rt::{self, ArgsSpec};
use crate::{Call, Contents, EventPublisher, EventSink, Events, IntoOutput, StreamEvent};
#[cfg(feature = "client")]
use crate::{Cx, EventReceiver, FromOutput};

/// A type that can be a parameter of a method.
#[cfg_attr(
    feature = "client",
    diagnostic::on_unimplemented(
        message = "`{Self}` cannot be an argument of a method",
        label = "a derive is missing",
        note = "an argument needs `#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]`, and so does every type in it",
        note = "for a type of another crate, enable that crate's features `serde` and `schemars`, or use a type of your own",
        note = "if the derives are there, check that `serde` and `schemars` are the versions that Switchboard uses"
    )
)]
#[cfg_attr(
    not(feature = "client"),
    diagnostic::on_unimplemented(
        message = "`{Self}` cannot be an argument of a method",
        label = "a derive is missing",
        note = "an argument needs `#[derive(serde::Deserialize, schemars::JsonSchema)]`, and so does every type in it",
        note = "for a type of another crate, enable that crate's features `serde` and `schemars`, or use a type of your own",
        note = "if the derives are there, check that `serde` and `schemars` are the versions that Switchboard uses"
    )
)]
pub trait MethodArgument: Sized {
    /// Adds the argument to those that a method takes.
    fn declare(args: ArgsBuilder, name: &'static str, description: &str) -> ArgsBuilder;

    /// Adds the argument with the default that it has when it is not reader.
    fn declare_or(args: ArgsBuilder, name: &'static str, description: &str, default: Value) -> ArgsBuilder;

    /// Returns the fields of the type as all arguments of a method.
    fn declare_all() -> ArgsSpec;

    /// Reads the next argument of a call.
    ///
    /// # Errors
    /// When it does not fit, or is required and not reader.
    fn take(reader: &mut ArgumentReader) -> Result<Self, Error>;

    /// Reads the next argument of a call, or returns its default.
    ///
    /// # Errors
    /// When it does not fit.
    fn take_or(reader: &mut ArgumentReader, default: impl FnOnce() -> Self) -> Result<Self, Error>;

    /// Reads all arguments of a call.
    ///
    /// # Errors
    /// When they do not fit.
    fn take_all(call: &Call) -> Result<Self, Error>;

    /// Adds the argument to those of a call.
    #[cfg(feature = "client")]
    fn write(&self, arguments: CallArguments, name: &str) -> CallArguments;

    /// Returns the fields as all arguments of a call.
    #[cfg(feature = "client")]
    fn write_all(&self) -> CallArguments;
}

#[diagnostic::do_not_recommend]
impl<T: Argument + ClientArgument> MethodArgument for T {
    fn declare(args: ArgsBuilder, name: &'static str, description: &str) -> ArgsBuilder {
        args.arg::<T>(name, description)
    }

    fn declare_or(args: ArgsBuilder, name: &'static str, description: &str, default: Value) -> ArgsBuilder {
        args.arg_or::<T>(name, description, default)
    }

    fn declare_all() -> ArgsSpec {
        ArgsSpec::fields_of::<T>()
    }

    fn take(reader: &mut ArgumentReader) -> Result<Self, Error> {
        reader.take()
    }

    fn take_or(reader: &mut ArgumentReader, default: impl FnOnce() -> Self) -> Result<Self, Error> {
        reader.take_or(default)
    }

    fn take_all(call: &Call) -> Result<Self, Error> {
        call.args()
    }

    #[cfg(feature = "client")]
    fn write(&self, arguments: CallArguments, name: &str) -> CallArguments {
        arguments.with(name, self)
    }

    #[cfg(feature = "client")]
    fn write_all(&self) -> CallArguments {
        CallArguments::from_fields(self)
    }
}

/// What the typed client requires of an argument: serialization.
#[cfg(feature = "client")]
pub trait ClientArgument: Serialize {}

#[cfg(feature = "client")]
impl<T: Serialize> ClientArgument for T {}

/// Without the client, an argument has no further requirements.
#[cfg(not(feature = "client"))]
pub trait ClientArgument {}

#[cfg(not(feature = "client"))]
impl<T> ClientArgument for T {}

/// A type that can be the result of a method.
#[cfg_attr(
    feature = "client",
    diagnostic::on_unimplemented(
        message = "`{Self}` cannot be the result of a method",
        label = "a derive is missing, or it is not `Send`",
        note = "a result needs `#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]`, and so does every type in it; content that is not data is `Contents`",
        note = "for a type of another crate, enable that crate's features `serde` and `schemars`, or use a type of your own",
        note = "if the derives are there, check that `serde` and `schemars` are the versions that Switchboard uses"
    )
)]
#[cfg_attr(
    not(feature = "client"),
    diagnostic::on_unimplemented(
        message = "`{Self}` cannot be the result of a method",
        label = "a derive is missing, or it is not `Send`",
        note = "a result needs `#[derive(serde::Serialize, schemars::JsonSchema)]`, and so does every type in it; content that is not data is `Contents`",
        note = "for a type of another crate, enable that crate's features `serde` and `schemars`, or use a type of your own",
        note = "if the derives are there, check that `serde` and `schemars` are the versions that Switchboard uses"
    )
)]
pub trait MethodResult: Sized {
    /// Describes the result for the design.
    fn describe() -> OutputDef;

    /// Converts it to the result of a tool.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn into_tool_result(self, call: &Call) -> Result<CallToolResult, Error>;

    /// Converts it to the contents of a resource.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn into_contents(self) -> Result<Contents, Error>;

    /// Converts it to JSON, for the plain endpoint.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    fn into_json(self) -> Result<Raw, Error>;

    /// Reads it from the result of a tool.
    ///
    /// # Errors
    /// When the result holds something else.
    #[cfg(feature = "client")]
    fn from_tool(answer: ToolOutput<'_>) -> Result<Self, Error>;

    /// Reads it from the contents of a resource.
    ///
    /// # Errors
    /// When the contents hold something else.
    #[cfg(feature = "client")]
    fn from_resource(answer: ResourceOutput<'_>) -> Result<Self, Error>;

    /// Reads it from JSON.
    ///
    /// # Errors
    /// When the JSON is something else.
    #[cfg(feature = "client")]
    fn from_json(json: &Raw) -> Result<Self, Error>;

    /// Calls a streaming tool whose events go through this channel.
    #[cfg(feature = "client")]
    fn stream<T>(
        caller: &ServiceCaller,
        tool: usize,
        args: CallArguments,
        cx: Option<&Cx>,
        events: (EventSink, EventReceiver<T>),
    ) -> CallStream<T, Self>
    where
        Self: 'static;
}

#[diagnostic::do_not_recommend]
impl<T: IntoOutput + ClientResult> MethodResult for T {
    fn describe() -> OutputDef {
        <T as IntoOutput>::describe()
    }

    fn into_tool_result(self, call: &Call) -> Result<CallToolResult, Error> {
        IntoOutput::into_tool_result(self, call.encoding)
    }

    fn into_contents(self) -> Result<Contents, Error> {
        IntoOutput::into_contents(self)
    }

    fn into_json(self) -> Result<Raw, Error> {
        IntoOutput::into_json(self)
    }

    #[cfg(feature = "client")]
    fn from_tool(answer: ToolOutput<'_>) -> Result<Self, Error> {
        answer.into_value()
    }

    #[cfg(feature = "client")]
    fn from_resource(answer: ResourceOutput<'_>) -> Result<Self, Error> {
        answer.into_value()
    }

    #[cfg(feature = "client")]
    fn from_json(json: &Raw) -> Result<Self, Error> {
        FromOutput::from_json(json)
    }

    #[cfg(feature = "client")]
    fn stream<E>(
        caller: &ServiceCaller,
        tool: usize,
        args: CallArguments,
        cx: Option<&Cx>,
        events: (EventSink, EventReceiver<E>),
    ) -> CallStream<E, Self>
    where
        Self: 'static,
    {
        CallStream::call(caller, tool, args, cx, events)
    }
}

/// What the typed client requires of a result: deserialization.
#[cfg(feature = "client")]
pub trait ClientResult: FromOutput {}

#[cfg(feature = "client")]
impl<T: FromOutput> ClientResult for T {}

/// Without the client, a result has no further requirements.
#[cfg(not(feature = "client"))]
pub trait ClientResult {}

#[cfg(not(feature = "client"))]
impl<T> ClientResult for T {}

/// A type that can be the error of a method.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a method",
    label = "does not implement `ServiceError`",
    note = "an error type of yours is an enum with `#[derive(ServiceError)]`",
    note = "for an error of another crate return `switchboard::service::Result<T>`: `?` converts every `std::error::Error`"
)]
pub trait MethodError: Sized {
    /// Converts the error for the other side.
    fn into_error(self) -> Error;

    /// Converts an error of the other side.
    fn from_error(error: Error) -> Self;
}

#[diagnostic::do_not_recommend]
impl<E: ServiceError> MethodError for E {
    fn into_error(self) -> Error {
        ServiceError::into_error(self)
    }

    fn from_error(error: Error) -> Self {
        ServiceError::from_error(error)
    }
}

/// A type that can be an event of a streaming tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an event of a stream",
    label = "a derive is missing, or it is not `Send + 'static`",
    note = "an event needs `#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]`, and so does every type in it; content that is not data is `Contents`",
    note = "for a type of another crate, enable that crate's features `serde` and `schemars`, or use a type of your own",
    note = "if the derives are there, check that `serde` and `schemars` are the versions that Switchboard uses"
)]
pub trait MethodEvent: Sized {
    /// Describes the event for the design.
    fn describe() -> Value;

    /// Returns the events of a call.
    fn events(call: &Call) -> Events<Self>;

    /// Converts events to a sink that decodes what arrives over the wire.
    fn into_sink(events: Events<Self>) -> EventSink;

    /// Returns a channel for the events of one call of a typed client.
    #[cfg(feature = "client")]
    fn channel() -> (EventSink, EventReceiver<Self>);
}

#[diagnostic::do_not_recommend]
impl<T: StreamEvent> MethodEvent for T {
    fn describe() -> Value {
        <T as StreamEvent>::describe()
    }

    fn events(call: &Call) -> Events<Self> {
        call.events()
    }

    fn into_sink(events: Events<Self>) -> EventSink {
        events.into_sink()
    }

    #[cfg(feature = "client")]
    fn channel() -> (EventSink, EventReceiver<Self>) {
        crate::client::stream::channel()
    }
}

/// A type that can be the payload of a notification.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the payload of a notification",
    label = "a derive is missing",
    note = "a payload needs `#[derive(serde::Serialize, schemars::JsonSchema)]`, and so does every type in it",
    note = "for a type of another crate, enable that crate's features `serde` and `schemars`, or use a type of your own",
    note = "if the derives are there, check that `serde` and `schemars` are the versions that Switchboard uses"
)]
pub trait NotificationPayload {
    /// Describes the notification for the design.
    fn describe(rust_name: &str, description: &str) -> NotificationDef;

    /// Publishes the notification.
    fn publish(&self, events: &EventPublisher, name: &str);
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> NotificationPayload for T {
    fn describe(rust_name: &str, description: &str) -> NotificationDef {
        rt::notification::<T>(rust_name, description)
    }

    fn publish(&self, events: &EventPublisher, name: &str) {
        events.publish(name, self);
    }
}
