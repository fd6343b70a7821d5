//! Calls the methods of a service over a session, by their number in the design.
//!
//! Nothing is tried again here. What the session itself sends twice was refused before it was carried out, so a tool that
//! is neither read-only nor idempotent is never run twice behind its caller's back.

use std::sync::Arc;

use switchboard_design::{Design, Error, PatternError, Route, ServiceError, ToolDef};
use switchboard_protocol::{CallToolResult, Raw};
use switchboard_session::ClientSession;

use super::failure::{Called, failed};
use super::held::ToolAnswer;
use super::{Arguments, CallStream, stream};
use crate::wire::STREAM_EXTENSION;
use crate::{Cx, Event, EventSink, FromOutput, Working};

/// Calls the methods of a service over a session. Cheap to clone.
#[derive(Clone)]
pub struct Caller {
    pub(super) session: ClientSession,
    pub(super) design: Arc<Design>,
    pub(super) routes: Arc<[Result<Route, PatternError>]>,
}

impl Caller {
    /// Calls over this session.
    pub fn new(session: ClientSession, design: Arc<Design>) -> Self {
        let routes = design.resources.iter().map(Route::new).collect();
        Self { session, design, routes }
    }

    /// The session.
    pub fn session(&self) -> &ClientSession {
        &self.session
    }

    /// What the service is.
    pub fn design(&self) -> &Arc<Design> {
        &self.design
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// What the service, the protocol or the connection says.
    ///
    /// # Cancellation
    /// Dropping the future cancels the call.
    pub async fn tool<T: FromOutput, E: ServiceError>(
        &self,
        tool: usize,
        args: Arguments,
        cx: Option<&Cx>,
        events: Option<EventSink>,
    ) -> Result<T, E> {
        let finish = |answer: Result<ToolAnswer<'_>, Error>| {
            answer.and_then(ToolAnswer::into_value).map_err(E::from_error)
        };
        self.tool_with(tool, args, cx, events, finish).await
    }

    /// Calls a tool and converts its answer with `finish`. For generated code, which checks the bounds of an author's types
    /// in `rt::method_types` and nowhere else.
    #[doc(hidden)]
    pub async fn tool_with<T, E>(
        &self,
        tool: usize,
        args: Arguments,
        cx: Option<&Cx>,
        events: Option<EventSink>,
        finish: impl FnOnce(Result<ToolAnswer<'_>, Error>) -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(def) = self.design.tools.get(tool) else { return finish(Err(no_such("tool"))) };
        // Typed results are read from the result alone, so the items of a stream must not be in it.
        let events = events.or_else(|| def.events.is_some().then(EventSink::nowhere));
        let result = match args.into_raw_with(|name| def.args.requires(name)) {
            Ok(args) => self.call_tool(def, args, cx, events).await,
            Err(error) => Err(error),
        };
        finish(result.map(|result| ToolAnswer::new(result, &def.output, &self.design)))
    }

    /// Calls a tool with arguments that are JSON; boxed, so that the typed part stays small. With a sink for events, the
    /// call itself declares the extension by which they arrive one by one, whatever its session declared.
    pub(crate) fn call_tool(
        &self,
        tool: &ToolDef,
        args: Raw,
        cx: Option<&Cx>,
        events: Option<EventSink>,
    ) -> Working<CallToolResult> {
        let prior = args.clone();
        let mut options = cx.and_then(Cx::options).cloned().unwrap_or_default();
        if let Some(events) = events.filter(|_| tool.events.is_some()) {
            options = options.on_notification(stream::hearing(events));
            options.meta.get_or_insert_default().insert(STREAM_EXTENSION, Raw::empty_object());
        }
        let call = self.session.call_tool_raw(tool.name.clone(), args).options(options);
        let (design, name) = (Arc::clone(&self.design), tool.name.clone());
        Box::pin(async move {
            let called = Called::Tool(&name);
            let repair = |message: &str| called.repair(&design, message, Some(&prior));
            match call.await {
                Ok(result) => match Error::from_result(&result, repair) {
                    Some(error) => Err(error),
                    None => Ok(result),
                },
                Err(error) => Err(failed(error, called, repair)),
            }
        })
    }

    /// Calls a streaming tool: its events and its result as one stream.
    pub fn stream<T: Event, R: FromOutput + 'static>(
        &self,
        tool: usize,
        args: Arguments,
        cx: Option<&Cx>,
    ) -> CallStream<T, R> {
        CallStream::call(self, tool, args, cx, stream::channel())
    }
}

/// A number that the design does not have: the code that has it and the design were not made together.
pub(super) fn no_such(kind: &str) -> Error {
    Error::internal(format!("the design has no {kind} of this number"))
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("design", &self.design.name).finish_non_exhaustive()
    }
}
