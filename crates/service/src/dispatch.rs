//! The boundary between a service and its server: items by index, arguments as JSON.
//!
//! The macro implements [`Dispatch`] for every service. Sessions, transports and policies use nothing else of it, so
//! code that is generic over the author's types ends here.

use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use switchboard_design::{Design, Error, InvalidParams};
use switchboard_protocol::{CallToolResult, Raw, Resource};

use crate::args::ArgumentReader;
use crate::{
    Changes, Contents, Cx, EventSink, Events, PromptMessages, ResultEncoding, StreamEvent, StreamJson,
};

/// A running call. Dropping it cancels the call.
pub type CallFuture<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// A service that can be served. Indexes refer to the lists of its [`Design`].
pub trait Dispatch: Send + Sync + 'static {
    /// Returns the design of the service.
    fn design(&self) -> &Arc<Design>;

    /// Calls a tool.
    fn call_tool(&self, tool: usize, call: Call) -> CallFuture<CallToolResult>;

    /// Reads a resource; the arguments were decoded from its URI.
    fn read_resource(&self, resource: usize, call: Call) -> CallFuture<Contents>;

    /// Lists the resources of a template.
    fn list_members(&self, resource: usize, cx: Cx) -> CallFuture<Vec<Resource>> {
        let _ = (resource, cx);
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Renders a prompt.
    fn get_prompt(&self, prompt: usize, call: Call) -> CallFuture<PromptMessages>;

    /// Watches a resource until the future is dropped. Started for the first subscriber, dropped with the last.
    fn watch(&self, watch: usize, cx: Cx, changes: Changes) -> CallFuture<()>;

    /// Completes an argument. The call's arguments are `value`, the text typed so far, and the other known arguments,
    /// all strings.
    fn complete(&self, completion: usize, call: Call) -> CallFuture<Vec<String>>;

    /// Calls any method by its Rust name, for the plain JSON-RPC endpoint. `None` if there is no such method or it is
    /// internal.
    fn call_method(&self, rust_name: &str, call: Call) -> Option<CallFuture<Raw>> {
        let _ = (rust_name, call);
        None
    }
}

/// A call to a method of a service.
#[derive(Debug)]
pub struct Call {
    /// The context that is passed to the method.
    pub cx: Cx,
    /// The arguments, a JSON object.
    pub args: Raw,
    /// Receives the events of a streaming tool.
    pub events: EventSink,
    /// JSON encoding of stream items.
    pub stream_json: StreamJson,
    /// Encoding of the tool result.
    pub encoding: ResultEncoding,
}

impl Call {
    /// Creates a call whose events are discarded.
    pub fn new(cx: Cx, args: Raw) -> Self {
        Self {
            cx,
            args,
            events: EventSink::discard(),
            stream_json: StreamJson::default(),
            encoding: ResultEncoding::default(),
        }
    }

    /// Returns the typed event sender of the call.
    pub fn events<T: StreamEvent>(&self) -> Events<T> {
        Events::to_sink(self.events.clone(), self.stream_json)
    }

    /// Decodes all arguments into one type. The adapter adds the list of issues to the error.
    ///
    /// # Errors
    /// When the arguments do not match the type.
    pub fn args<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.args.decode().map_err(|error| Error::InvalidParams(InvalidParams::new(error.to_string())))
    }

    /// Returns a reader for exactly these arguments.
    ///
    /// # Errors
    /// When there are other arguments.
    pub fn read_args(&self, names: &'static [&'static str]) -> Result<ArgumentReader, Error> {
        ArgumentReader::read(&self.args, names, true)
    }

    /// Returns a reader for these arguments; others are ignored.
    ///
    /// # Errors
    /// When the arguments are not an object.
    pub fn read_known_args(&self, names: &'static [&'static str]) -> Result<ArgumentReader, Error> {
        ArgumentReader::read(&self.args, names, false)
    }
}
