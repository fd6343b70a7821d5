//! Tools: found by one hash, their arguments read straight into the author's types.

use std::collections::HashMap;
use std::sync::Arc;

use switchboard_design::{Design, Error, ItemKind, OutputDef, OutputSchemaPolicy, RequestKind, schema};
use switchboard_protocol::{CallToolParams, CallToolResult, Raw, RpcError, ServerResult};
use switchboard_session::server::{self, HandlerOutcome, Reply};

use super::Core;
use super::arguments::Arguments;
use super::logging::{About, Logged};
use super::running::Running;
use super::streaming::{self, StreamBuffer};
use crate::options::Options;
use crate::output::{Data, Shape};
use crate::task::Fate;
use crate::{Call, Cx, Working};

/// The tools of a design, ready to be called.
pub(crate) struct Tools {
    by_name: HashMap<String, usize, foldhash::fast::RandomState>,
    /// By their place in the design.
    tools: Vec<Tool>,
}

struct Tool {
    arguments: Arguments,
    shape: Shape,
    streams: bool,
    /// Its schema, when some of its arguments are marked to be mirrored in headers.
    mirrored: Option<Raw>,
}

/// The word of a schema that marks an argument to be mirrored in a header.
const MIRRORED: &str = "x-mcp-header";

impl Tools {
    pub(crate) fn new(design: &Design, options: &Options) -> Self {
        let by_name =
            design.tools.iter().enumerate().map(|(place, tool)| (tool.name.clone(), place)).collect();
        let tool = |tool: &switchboard_design::ToolDef| {
            let streams = tool.events.is_some();
            let schema = design.types.bundle(&tool.args.schema);
            let marked = |property: &serde_json::Value| property.get(MIRRORED).is_some();
            let properties = schema.get("properties").and_then(serde_json::Value::as_object);
            let mirrored = properties
                .is_some_and(|properties| properties.values().any(marked))
                .then(|| Raw::from(schema.clone()));
            Tool {
                mirrored,
                arguments: Arguments::new(schema, &tool.args.order, options.unknown),
                shape: Shape {
                    data: data(&tool.output, options.outputs),
                    items: streams.then_some(options.stream_json),
                },
                streams,
            }
        };
        Self { by_name, tools: design.tools.iter().map(tool).collect() }
    }
}

/// How the result of a tool is written.
fn data(output: &OutputDef, rule: OutputSchemaPolicy) -> Data {
    match (output.schema(), rule) {
        (None, _) => Data::ByLooks,
        (Some(schema), _) if schema::is_object(schema) => Data::AsIs,
        (Some(_), OutputSchemaPolicy::AsIs) => Data::AsIs,
        (Some(_), OutputSchemaPolicy::ObjectsOnly) => Data::TextOnly,
        (Some(_), OutputSchemaPolicy::Wrapped) => Data::Wrapped,
    }
}

impl Core {
    pub(crate) fn call_tool(
        self: &Arc<Self>,
        params: CallToolParams,
        cx: server::RequestContext,
    ) -> HandlerOutcome {
        let CallToolParams { name, arguments, task, meta, .. } = params;
        let log = Logged::begin(&self.options, About::named("tools/call", &name).of(&cx), arguments.as_ref());
        let args = arguments.filter(|args| !args.is_null()).unwrap_or_else(Raw::empty_object);
        if !args.is_object() {
            // Not a call with wrong arguments, but no call at all: the protocol says so itself.
            let reply =
                self.fail(Error::invalid_params("arguments must be an object"), RequestKind::Other, &cx);
            if let Some(log) = log {
                log.end(&reply);
            }
            return HandlerOutcome::Now(reply);
        }
        let found = self.find_tool(&name, &cx).and_then(|tool| Ok((tool, self.admit_arguments(tool, args)?)));
        let (tool, args) = match found {
            Ok(found) => found,
            Err(error) => {
                let reply = match error {
                    // What a mapper is for is the service's own errors, and arguments are its business too.
                    Error::InvalidParams(_) => self.fail(error, RequestKind::Tool, &cx),
                    other => self.refuse(&other, RequestKind::Tool, &cx),
                };
                if let Some(log) = log {
                    log.end(&reply);
                }
                return HandlerOutcome::Now(reply);
            }
        };
        let span = tracing::debug_span!("tools/call", tool = name);
        let fate = match &self.tasks {
            Some(tasks) => tasks.fate(&cx, self.design.tools[tool].task, task.as_ref()),
            None => Fate::Plain,
        };
        if let Fate::Refused(error) = fate {
            let reply = Err(error);
            if let Some(log) = log {
                log.end(&reply);
            }
            return HandlerOutcome::Now(reply);
        }
        // What outlives its request has the time that its task has.
        let timeout = self.options.timeout.filter(|_| fate == Fate::Plain);
        let (own, again) = (cx.clone(), args.clone());
        let called = Cx::serving(cx.clone()).with_meta(meta).within(timeout);
        let (work, items) = self.start_tool(tool, args, called);
        // A task must not keep its server: dropping the server ends what runs.
        let core = Arc::downgrade(self);
        let running = Running::new(work, log, span, move |outcome| match core.upgrade() {
            Some(core) => {
                let reply = core.tool_reply(tool, outcome, &again, &own);
                match items {
                    Some(items) => with_items(reply, &items),
                    None => reply,
                }
            }
            None => Err(RpcError::internal("the server is gone")),
        });
        match (fate, &self.tasks) {
            (Fate::Task, Some(tasks)) => tasks.start(cx, task.as_ref(), Box::pin(running)),
            (Fate::Wish, Some(tasks)) => tasks.watch(cx, Box::pin(running)),
            _ => running.within(timeout).handled(),
        }
    }

    /// The place of a tool that the caller may use.
    pub(crate) fn find_tool(&self, name: &str, cx: &server::RequestContext) -> Result<usize, Error> {
        let unknown = || Error::unknown(ItemKind::Tool, name.to_owned());
        let tool = *self.tools.by_name.get(name).ok_or_else(unknown)?;
        self.admit(cx.caller(), &self.design.tools[tool].scopes, ItemKind::Tool, name)?;
        Ok(tool)
    }

    /// The schema of a tool some of whose arguments are mirrored in headers.
    pub(crate) fn mirrored_schema(&self, name: &str) -> Option<Raw> {
        self.tools.tools[*self.tools.by_name.get(name)?].mirrored.clone()
    }

    /// The arguments as the method may see them.
    pub(crate) fn admit_arguments(&self, tool: usize, args: Raw) -> Result<Raw, Error> {
        let given = args.clone();
        self.tools.tools[tool].arguments.admit(args).map_err(|error| self.explain_tool(tool, error, &given))
    }

    /// Calls the method of a tool with arguments that were admitted. A streaming tool comes with the buffer of the items
    /// that its result must carry.
    fn start_tool(
        &self,
        tool: usize,
        args: Raw,
        cx: Cx,
    ) -> (Working<CallToolResult>, Option<Arc<StreamBuffer>>) {
        let Tool { shape, streams, .. } = &self.tools.tools[tool];
        let mut call = Call::new(cx, args);
        (call.shape, call.stream_json) = (*shape, self.options.stream_json);
        let mut items = None;
        if let Some(served) = call.cx.served().filter(|_| *streams) {
            let (sink, buffer) = streaming::sink(served, call.cx.meta(), self.options.stream_limits);
            call.events = sink;
            items = Some(buffer);
        }
        (self.service.call_tool(tool, call), items)
    }

    /// What the caller of a tool is told.
    fn tool_reply(
        &self,
        tool: usize,
        outcome: Result<CallToolResult, Error>,
        args: &Raw,
        cx: &server::RequestContext,
    ) -> Reply {
        match outcome {
            Ok(result) => Ok(result.into()),
            Err(error) => self.fail(self.explain_tool(tool, error, args), RequestKind::Tool, cx),
        }
    }

    /// An error about arguments says all that is wrong with them, and how to repair it.
    fn explain_tool(&self, tool: usize, error: Error, args: &Raw) -> Error {
        match error {
            Error::InvalidParams(invalid) => {
                let repair = self.design.repair_tool(&self.design.tools[tool].name, invalid.message.clone());
                self.tools.tools[tool].arguments.explain(invalid, args, repair).into()
            }
            other => other,
        }
    }
}

/// The reply with the items that were kept for it. An error of the protocol has no place for items.
fn with_items(reply: Reply, items: &StreamBuffer) -> Reply {
    match reply {
        Ok(ServerResult::CallTool(mut result)) => {
            items.move_into(&mut result);
            Ok(ServerResult::CallTool(result))
        }
        other => {
            items.close();
            other
        }
    }
}
