//! Calls the items of a service over a session, by index in the design.
//!
//! Nothing is retried here. The session resends only requests that were rejected before execution, so a tool that is
//! neither read-only nor idempotent never runs twice.

use std::sync::Arc;

use switchboard_design::{Design, Error, PatternError, Route, ServiceError, ToolDef};
use switchboard_protocol::{CallToolResult, Raw};
use switchboard_session::ClientSession;

use super::decode::ToolOutput;
use super::error::{CallTarget, to_error};
use super::{CallArguments, CallStream, stream};
use crate::wire::STREAM_EXTENSION;
use crate::{CallFuture, Cx, EventSink, FromOutput, StreamEvent};

/// Calls the items of a service over a session. Cheap to clone.
#[derive(Clone)]
pub struct ServiceCaller {
    pub(super) session: ClientSession,
    pub(super) design: Arc<Design>,
    pub(super) routes: Arc<[Result<Route, PatternError>]>,
}

impl ServiceCaller {
    /// Creates a caller over a session.
    pub fn new(session: ClientSession, design: Arc<Design>) -> Self {
        let routes = design.resources.iter().map(Route::new).collect();
        Self { session, design, routes }
    }

    /// Returns the session.
    pub fn session(&self) -> &ClientSession {
        &self.session
    }

    /// Returns the design of the service.
    pub fn design(&self) -> &Arc<Design> {
        &self.design
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// An error of the service, the protocol or the connection.
    ///
    /// # Cancellation
    /// Dropping the future cancels the call.
    pub async fn tool<T: FromOutput, E: ServiceError>(
        &self,
        tool: usize,
        args: CallArguments,
        cx: Option<&Cx>,
        events: Option<EventSink>,
    ) -> Result<T, E> {
        let finish = |answer: Result<ToolOutput<'_>, Error>| {
            answer.and_then(ToolOutput::into_value).map_err(E::from_error)
        };
        self.tool_with(tool, args, cx, events, finish).await
    }

    /// Calls a tool and converts its result with `finish`. For generated code, which checks the bounds of the
    /// author's types in `rt::method_types` only.
    #[doc(hidden)]
    pub async fn tool_with<T, E>(
        &self,
        tool: usize,
        args: CallArguments,
        cx: Option<&Cx>,
        events: Option<EventSink>,
        finish: impl FnOnce(Result<ToolOutput<'_>, Error>) -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(def) = self.design.tools.get(tool) else { return finish(Err(unknown_index("tool"))) };
        // Typed results are decoded from the result alone, so it must not contain stream items.
        let events = events.or_else(|| def.events.is_some().then(EventSink::discard));
        let result = match args.into_raw_with(|name| def.args.requires(name)) {
            Ok(args) => self.call_tool(def, args, cx, events).await,
            Err(error) => Err(error),
        };
        finish(result.map(|result| ToolOutput::new(result, &def.output, &self.design)))
    }

    /// Calls a tool with JSON arguments; boxed, to keep generated code small. With an event sink, the call declares
    /// the stream extension itself, whatever its session declared.
    pub(crate) fn call_tool(
        &self,
        tool: &ToolDef,
        args: Raw,
        cx: Option<&Cx>,
        events: Option<EventSink>,
    ) -> CallFuture<CallToolResult> {
        let prior = args.clone();
        let mut options = cx.and_then(Cx::options).cloned().unwrap_or_default();
        if let Some(events) = events.filter(|_| tool.events.is_some()) {
            options = options.on_notification(stream::notification_handler(events));
            options.meta.get_or_insert_default().insert(STREAM_EXTENSION, Raw::empty_object());
        }
        let call = self.session.call_tool_raw(tool.name.clone(), args).options(options);
        let (design, name) = (Arc::clone(&self.design), tool.name.clone());
        Box::pin(async move {
            let target = CallTarget::Tool(&name);
            let repair = |message: &str| target.repair(&design, message, Some(&prior));
            match call.await {
                Ok(result) => match Error::from_result(&result, repair) {
                    Some(error) => Err(error),
                    None => Ok(result),
                },
                Err(error) => Err(to_error(error, target, repair)),
            }
        })
    }

    /// Calls a streaming tool; returns its events and its result as one stream.
    pub fn stream<T: StreamEvent, R: FromOutput + 'static>(
        &self,
        tool: usize,
        args: CallArguments,
        cx: Option<&Cx>,
    ) -> CallStream<T, R> {
        CallStream::call(self, tool, args, cx, stream::channel())
    }
}

/// Returns the error for an index that the design does not have: generated code and design differ.
pub(super) fn unknown_index(kind: &str) -> Error {
    Error::internal(format!("the design has no {kind} of this number"))
}

impl std::fmt::Debug for ServiceCaller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServiceCaller").field("design", &self.design.name).finish_non_exhaustive()
    }
}
