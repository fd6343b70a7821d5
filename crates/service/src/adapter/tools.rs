//! `tools/call`: one hash lookup, then arguments are decoded straight into the author's types.

use std::collections::HashMap;
use std::sync::Arc;

use switchboard_design::{Design, Error, ItemKind, OutputDef, OutputSchemaPolicy, RequestKind, schema};
use switchboard_protocol::{CallToolParams, CallToolResult, Raw, RpcError, ServerResult};
use switchboard_session::server::{self, HandlerOutcome, Reply};

use super::Core;
use super::argument_validator::ArgumentValidator;
use super::method_future::MethodFuture;
use super::stream_buffer::{self, StreamBuffer};
use crate::options::BuilderOptions;
use crate::output::{DataEncoding, ResultEncoding};
use crate::task::TaskDecision;
use crate::{Call, CallFuture, Cx};

/// Lookup tables for the tools of a design.
pub(crate) struct ToolTable {
    by_name: HashMap<String, usize, foldhash::fast::RandomState>,
    /// By index in the design.
    tools: Vec<ToolEntry>,
}

struct ToolEntry {
    validator: ArgumentValidator,
    encoding: ResultEncoding,
    streams: bool,
    /// The schema, if any argument is mirrored in an HTTP header.
    mirrored: Option<Raw>,
}

/// The schema keyword of an argument that is mirrored in an HTTP header.
const MIRRORED: &str = "x-mcp-header";

impl ToolTable {
    pub(crate) fn new(design: &Design, options: &BuilderOptions) -> Self {
        let by_name =
            design.tools.iter().enumerate().map(|(index, tool)| (tool.name.clone(), index)).collect();
        let tool = |tool: &switchboard_design::ToolDef| {
            let streams = tool.events.is_some();
            let schema = design.types.bundle(&tool.args.schema);
            let marked = |property: &serde_json::Value| property.get(MIRRORED).is_some();
            let properties = schema.get("properties").and_then(serde_json::Value::as_object);
            let mirrored = properties
                .is_some_and(|properties| properties.values().any(marked))
                .then(|| Raw::from(schema.clone()));
            ToolEntry {
                mirrored,
                validator: ArgumentValidator::new(schema, &tool.args.order, options.unknown),
                encoding: ResultEncoding {
                    data: data_encoding(&tool.output, options.outputs),
                    items: streams.then_some(options.stream_json),
                },
                streams,
            }
        };
        Self { by_name, tools: design.tools.iter().map(tool).collect() }
    }
}

/// Returns how the result of a tool is encoded.
fn data_encoding(output: &OutputDef, rule: OutputSchemaPolicy) -> DataEncoding {
    match (output.schema(), rule) {
        (None, _) => DataEncoding::Inferred,
        (Some(schema), _) if schema::is_object(schema) => DataEncoding::Structured,
        (Some(_), OutputSchemaPolicy::AsIs) => DataEncoding::Structured,
        (Some(_), OutputSchemaPolicy::ObjectsOnly) => DataEncoding::TextOnly,
        (Some(_), OutputSchemaPolicy::Wrapped) => DataEncoding::Wrapped,
    }
}

impl Core {
    pub(crate) fn call_tool(
        self: &Arc<Self>,
        params: CallToolParams,
        cx: server::RequestContext,
    ) -> HandlerOutcome {
        let CallToolParams { name, arguments, task, meta, .. } = params;
        let args = arguments.filter(|args| !args.is_null()).unwrap_or_else(Raw::empty_object);
        if !args.is_object() {
            // Not invalid arguments but a malformed request, so a protocol error.
            let reply = self.service_error_reply(
                Error::invalid_params("arguments must be an object"),
                RequestKind::Other,
                &cx,
            );
            return HandlerOutcome::Now(reply);
        }
        let found =
            self.find_tool(&name, &cx).and_then(|tool| Ok((tool, self.validate_arguments(tool, args)?)));
        let (tool, args) = match found {
            Ok(found) => found,
            Err(error) => {
                let reply = match error {
                    // The error mapper also applies to invalid arguments.
                    Error::InvalidParams(_) => self.service_error_reply(error, RequestKind::Tool, &cx),
                    other => self.adapter_error_reply(&other, RequestKind::Tool, &cx),
                };
                return HandlerOutcome::Now(reply);
            }
        };
        let span = tracing::debug_span!("tools/call", tool = name);
        let decision = match &self.tasks {
            Some(tasks) => tasks.decide(&cx, self.design.tools[tool].task, task.as_ref()),
            None => TaskDecision::Direct,
        };
        if let TaskDecision::Rejected(error) = decision {
            return HandlerOutcome::error(error);
        }
        // A task is limited by its TTL instead.
        let timeout = self.options.timeout.filter(|_| decision != TaskDecision::Task);
        let (reply_cx, prior_args) = (cx.clone(), args.clone());
        let called = Cx::from_request(cx.clone()).with_meta(meta).with_timeout(timeout);
        let (work, items) = self.start_tool(tool, args, called);
        // Weak: a running task must not keep its server alive, because dropping the server cancels tasks.
        let core = Arc::downgrade(self);
        let running = MethodFuture::new(work, span, move |outcome| match core.upgrade() {
            Some(core) => {
                let reply = core.tool_reply(tool, outcome, &prior_args, &reply_cx);
                match items {
                    Some(items) => with_items(reply, &items),
                    None => reply,
                }
            }
            None => Err(RpcError::internal("the server is gone")),
        });
        match (decision, &self.tasks) {
            (TaskDecision::Task, Some(tasks)) => tasks.start(cx, task.as_ref(), Box::pin(running)),
            (TaskDecision::OnRequest, Some(tasks)) => tasks.run_detachable(cx, Box::pin(running)),
            _ => running.into_outcome(),
        }
    }

    /// Returns the index of a tool that the caller may use.
    pub(crate) fn find_tool(&self, name: &str, cx: &server::RequestContext) -> Result<usize, Error> {
        let unknown = || Error::unknown(ItemKind::Tool, name.to_owned());
        let tool = *self.tools.by_name.get(name).ok_or_else(unknown)?;
        self.check_scopes(cx.caller(), &self.design.tools[tool].scopes, ItemKind::Tool, name)?;
        Ok(tool)
    }

    /// Returns the schema of a tool with arguments mirrored in headers.
    pub(crate) fn mirrored_schema(&self, name: &str) -> Option<Raw> {
        self.tools.tools[*self.tools.by_name.get(name)?].mirrored.clone()
    }

    /// Returns the validated arguments to pass to the method.
    pub(crate) fn validate_arguments(&self, tool: usize, args: Raw) -> Result<Raw, Error> {
        let original = args.clone();
        self.tools.tools[tool]
            .validator
            .validate(args)
            .map_err(|error| self.explain_tool(tool, error, &original))
    }

    /// Calls the method of a tool with validated arguments. For a streaming tool, also returns the buffer of items
    /// for its result.
    fn start_tool(
        &self,
        tool: usize,
        args: Raw,
        cx: Cx,
    ) -> (CallFuture<CallToolResult>, Option<Arc<StreamBuffer>>) {
        let ToolEntry { encoding, streams, .. } = &self.tools.tools[tool];
        let mut call = Call::new(cx, args);
        (call.encoding, call.stream_json) = (*encoding, self.options.stream_json);
        let mut items = None;
        if let Some(served) = call.cx.request_context().filter(|_| *streams) {
            let (sink, buffer) = stream_buffer::sink(served, call.cx.meta(), self.options.stream_limits);
            call.events = sink;
            items = Some(buffer);
        }
        (self.service.call_tool(tool, call), items)
    }

    /// Converts the outcome of a tool to a reply.
    fn tool_reply(
        &self,
        tool: usize,
        outcome: Result<CallToolResult, Error>,
        args: &Raw,
        cx: &server::RequestContext,
    ) -> Reply {
        match outcome {
            Ok(result) => Ok(result.into()),
            Err(error) => {
                self.service_error_reply(self.explain_tool(tool, error, args), RequestKind::Tool, cx)
            }
        }
    }

    /// Adds all issues and a repair to an invalid-arguments error.
    fn explain_tool(&self, tool: usize, error: Error, args: &Raw) -> Error {
        match error {
            Error::InvalidParams(invalid) => {
                let repair = self.design.repair_tool(&self.design.tools[tool].name, invalid.message.clone());
                self.tools.tools[tool].validator.explain(invalid, args, repair).into()
            }
            other => other,
        }
    }
}

/// Adds the buffered items to the reply. A protocol error cannot carry items.
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
