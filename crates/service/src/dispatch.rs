//! The one seam between a service and whatever serves it: by number, with arguments still as JSON.
//!
//! The macro writes [`Dispatch`] for every service; sessions, transports and policies see nothing else of it, so all
//! that is generic in the author's types ends here.

use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use switchboard_design::{Design, Error, InvalidParams};
use switchboard_protocol::{CallToolResult, Raw, Resource};

use crate::args::Given;
use crate::{Changes, Contents, Cx, Event, EventSink, Events, Prompt, Shape, StreamJson};

/// Work under way. Dropping it cancels it.
pub type Working<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// A service, as it is served. Numbers are places in the lists of its [`Design`].
pub trait Dispatch: Send + Sync + 'static {
    /// What the service is.
    fn design(&self) -> &Arc<Design>;

    /// Calls a tool.
    fn call_tool(&self, tool: usize, call: Call) -> Working<CallToolResult>;

    /// Reads a resource, whose arguments were read out of its URI.
    fn read_resource(&self, resource: usize, call: Call) -> Working<Contents>;

    /// Lists the members of a resource whose URI has variables.
    fn list_members(&self, resource: usize, cx: Cx) -> Working<Vec<Resource>> {
        let _ = (resource, cx);
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Fills in a prompt.
    fn get_prompt(&self, prompt: usize, call: Call) -> Working<Prompt>;

    /// Watches a resource until it is dropped: started for the first who subscribes, dropped with the last.
    fn watch(&self, watch: usize, cx: Cx, changes: Changes) -> Working<()>;

    /// Completes an argument. The arguments of the call are `value`, what was typed so far, and the other arguments that
    /// are known, all texts.
    fn complete(&self, completion: usize, call: Call) -> Working<Vec<String>>;

    /// Calls any method by its name in Rust, for callers of the plain endpoint. `None` when there is no such method, or
    /// it is internal.
    fn call_method(&self, rust_name: &str, call: Call) -> Option<Working<Raw>> {
        let _ = (rust_name, call);
        None
    }
}

/// One call on its way into a service.
#[derive(Debug)]
pub struct Call {
    /// What the method knows of its caller.
    pub cx: Cx,
    /// The arguments: an object.
    pub args: Raw,
    /// Where the events of a streaming tool go.
    pub events: EventSink,
    /// How its content items hold JSON.
    pub stream_json: StreamJson,
    /// How its result is written.
    pub shape: Shape,
}

impl Call {
    /// A call with these arguments whose events nobody hears.
    pub fn new(cx: Cx, args: Raw) -> Self {
        Self {
            cx,
            args,
            events: EventSink::nowhere(),
            stream_json: StreamJson::default(),
            shape: Shape::default(),
        }
    }

    /// The events of the call, typed.
    pub fn events<T: Event>(&self) -> Events<T> {
        Events::to_sink(self.events.clone(), self.stream_json)
    }

    /// Reads the arguments. Whoever serves the call says what is wrong with them, place by place.
    ///
    /// # Errors
    /// When they do not fit.
    pub fn args<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.args.decode().map_err(|error| Error::InvalidParams(InvalidParams::new(error.to_string())))
    }
    /// The arguments one by one, and no others than these.
    ///
    /// # Errors
    /// When there are others.
    pub fn given(&self, names: &'static [&'static str]) -> Result<Given, Error> {
        Given::read(&self.args, names, true)
    }

    /// Those of the arguments that have these names.
    ///
    /// # Errors
    /// When they are not an object.
    pub fn given_some(&self, names: &'static [&'static str]) -> Result<Given, Error> {
        Given::read(&self.args, names, false)
    }
}
