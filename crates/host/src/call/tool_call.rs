//! A tool call through the host.

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard_protocol::{CallToolResult, EncodeError, ErrorCode, FromRaw, Meta, ProgressParams, Raw};
use switchboard_session::link::{BoxFuture, LinkError};
use switchboard_session::{CallError, ClientSession};
use tracing::Instrument;

use crate::call::error_result::error_result;
use crate::call::repair::repair_prompt;
use crate::call::resolve::{ToolSelector, check_unchanged, resolve};
use crate::call::span::{call_span, error_type};
use crate::error::{HostError, not_ready};
use crate::policy::{CallDecision, ProposedCall, ReplayPolicy};
use crate::question_router::RejectingHandler;
use crate::registry::{CallTarget, CatalogTool};
use crate::run::{self, Run};
use crate::set::HostState;
use crate::slot::Slot;
use crate::telemetry::CallResultKind;
use crate::validation::Validation;

type OnProgress = Box<dyn FnMut(ProgressParams) + Send>;

/// A tool call. Awaiting it returns the result or a typed error; [`execute`](Self::execute) runs it for a model and returns
/// every failure as an error result. Dropping the future cancels the call.
#[must_use = "a call does nothing until it is awaited"]
pub struct ToolCall {
    host: Arc<HostState>,
    which: ToolSelector,
    arguments: Result<Raw, EncodeError>,
    run: Option<Run>,
    total: Option<Duration>,
    idle: Option<Duration>,
    on_progress: Option<OnProgress>,
    meta: Option<Meta>,
}

impl ToolCall {
    pub(crate) fn new(
        host: Arc<HostState>,
        which: ToolSelector,
        arguments: Result<Raw, EncodeError>,
    ) -> Self {
        Self { host, which, arguments, run: None, total: None, idle: None, on_progress: None, meta: None }
    }

    /// Makes the call part of a run, which cancels it and answers requests of the server.
    pub fn within(mut self, run: &Run) -> Self {
        self.run = Some(run.clone());
        self
    }

    /// Sets the total timeout.
    pub fn timeout(mut self, total: Duration) -> Self {
        self.total = Some(total);
        self
    }

    /// Sets the idle timeout: the longest time without a message about the call.
    pub fn idle_timeout(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Sets a callback for progress notifications, which are delivered in order and before the result.
    pub fn on_progress(mut self, on_progress: impl FnMut(ProgressParams) + Send + 'static) -> Self {
        self.on_progress = Some(Box::new(on_progress));
        self
    }

    /// Sets further members of `_meta`.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Runs the call for a model: every failure is an error result with the next step, and a large result is spilled to a
    /// file if the host is configured so.
    pub fn execute(mut self) -> BoxFuture<'static, CallToolResult> {
        Box::pin(async move {
            match self.run_call().await {
                Ok(CallOutput { raw, result }) => match &self.host.settings.spill {
                    Some(spill) => spill.clone().apply(raw, result).await,
                    None => result,
                },
                Err(error) => error_result(&error),
            }
        })
    }

    /// Runs the call and returns the result as the server wrote it.
    ///
    /// # Errors
    /// As awaiting the call.
    pub fn raw(mut self) -> BoxFuture<'static, Result<Raw, HostError>> {
        Box::pin(async move {
            let CallOutput { raw, result } = self.run_call().await?;
            // The result of a local tool has no JSON text yet; encoding it does not fail.
            Ok(raw.unwrap_or_else(|| Raw::encode(&result).unwrap_or_else(|_| Raw::null())))
        })
    }

    async fn run_call(&mut self) -> Result<CallOutput, HostError> {
        let listed = match &self.run {
            None => resolve(&self.host, &self.which).await?,
            Some(run) => {
                let resolved = unless_cancelled(run, resolve(&self.host, &self.which)).await;
                resolved.ok_or_else(|| HostError::Cancelled {
                    tool: self.which.name().to_owned(),
                    sent: false,
                })??
            }
        };
        let arguments = match std::mem::replace(&mut self.arguments, Ok(Raw::null())) {
            Ok(arguments) if arguments.is_object() => arguments,
            Ok(arguments) if arguments.is_null() => Raw::empty_object(),
            Ok(_) => {
                return Err(invalid_arguments(&listed, "the arguments must be a JSON object".to_owned()));
            }
            Err(error) => return Err(invalid_arguments(&listed, error.to_string())),
        };
        let span = call_span(&listed);
        if span.is_disabled() {
            return self.run_resolved(&listed, &arguments).await;
        }
        let outcome = self.run_resolved(&listed, &arguments).instrument(span.clone()).await;
        match &outcome {
            Ok(output) if output.result.is_error => _ = span.record("error.type", "tool_error"),
            Ok(_) => {}
            Err(error) => _ = span.record("error.type", error_type(error)),
        }
        outcome
    }

    /// Runs the call of a resolved tool: validate, decide, send, check the output.
    async fn run_resolved(&mut self, listed: &CatalogTool, arguments: &Raw) -> Result<CallOutput, HostError> {
        let validation = self.host.settings.validation;
        if validation == Validation::On {
            listed
                .checks
                .arguments(&listed.tool, arguments)
                .map_err(|problem| invalid_arguments(listed, problem))?;
        }
        if self.run.as_ref().is_some_and(Run::is_cancelled) {
            return Err(cancelled(listed, false));
        }
        if let Some(policy) = &self.host.settings.policy {
            let proposed = ProposedCall::new(&listed.server, &listed.tool, &listed.qualified, arguments);
            let decision = match &self.run {
                None => policy.decide(&proposed).await,
                Some(run) => unless_cancelled(run, policy.decide(&proposed))
                    .await
                    .ok_or_else(|| cancelled(listed, false))?,
            };
            if let CallDecision::Deny { reason } = decision {
                return Err(HostError::Refused { tool: Arc::clone(&listed.qualified), reason });
            }
            // The decision may have taken minutes.
            check_unchanged(&self.host, listed)?;
        }
        let output = match &listed.target {
            CallTarget::Local(tool) => {
                let result = match &self.run {
                    None => tool.call(arguments.clone(), None).await,
                    Some(run) => {
                        let call = tool.call(arguments.clone(), Some(run));
                        unless_cancelled(run, call).await.ok_or_else(|| cancelled(listed, true))?
                    }
                };
                CallOutput { raw: None, result }
            }
            CallTarget::Server(slot) => {
                let began = Instant::now();
                let outcome = self.send(listed, slot, arguments).await;
                slot.meter.record_call(began.elapsed(), call_outcome(&outcome));
                outcome?
            }
        };
        if validation == Validation::On
            && let Some(structured) = &output.result.structured_content
            && !output.result.is_error
        {
            let tool = Arc::clone(&listed.qualified);
            listed
                .checks
                .output(&listed.tool, structured)
                .map_err(|problem| HostError::Output { tool, problem })?;
        }
        Ok(output)
    }

    /// Sends the call, and repeats it once where that is safe.
    async fn send(
        &mut self,
        listed: &CatalogTool,
        slot: &Slot,
        arguments: &Raw,
    ) -> Result<CallOutput, HostError> {
        let not_ready = |status| not_ready(&slot.name, status);
        let permit = match &self.run {
            None => slot.limiter.acquire().await,
            Some(run) => {
                unless_cancelled(run, slot.limiter.acquire()).await.ok_or_else(|| cancelled(listed, false))?
            }
        };
        let _permit = permit.map_err(|_| HostError::Busy { server: Arc::clone(&slot.name) })?;
        let session = match (slot.ready_session(), &self.run) {
            (Some(session), _) => session,
            (None, None) => slot.session().await.map_err(not_ready)?,
            (None, Some(run)) => {
                let session =
                    unless_cancelled(run, slot.session()).await.ok_or_else(|| cancelled(listed, false))?;
                session.map_err(not_ready)?
            }
        };
        let opened = slot.session_count();
        let error = match self.send_once(listed, slot, &session, arguments).await {
            Err(HostError::Call { error, .. }) => error,
            other => return other,
        };
        slot.report_call_error(&error);
        let never_left = matches!(*error, CallError::Link(LinkError::Lost { sent: false, .. }));
        let may_repeat = error.outcome_unknown()
            && matches!(*error, CallError::Link(_) | CallError::Closed)
            && self.host.settings.replay == ReplayPolicy::Idempotent
            && listed.effects().is_idempotent();
        if !never_left && !may_repeat {
            return Err(call_failed(listed, *error));
        }
        // Boxed: a rare path must not enlarge the future of every call.
        let another = Box::pin(slot.session_after(opened));
        let another = match &self.run {
            None => another.await,
            Some(run) => unless_cancelled(run, another)
                .await
                .ok_or_else(|| cancelled(listed, error.outcome_unknown()))?,
        };
        match another {
            Some(session) => Box::pin(self.send_once(listed, slot, &session, arguments)).await,
            None => Err(call_failed(listed, *error)),
        }
    }

    async fn send_once(
        &mut self,
        listed: &CatalogTool,
        slot: &Slot,
        session: &ClientSession,
        arguments: &Raw,
    ) -> Result<CallOutput, HostError> {
        let (id, answers) = match &self.run {
            Some(run) => (run.id(), run.handler()),
            None => (run::next_id(), None),
        };
        let active_call = slot.questions.register_call(id, answers);
        let mut call = session.call_tool_raw(listed.wire_name.clone(), arguments.clone());
        if active_call.is_some() {
            call = call.answers(answers.cloned().unwrap_or_else(|| Arc::new(RejectingHandler)));
        }
        if let Some(total) = self.total {
            call = call.timeout(total);
        }
        if let Some(idle) = self.idle {
            call = call.idle_timeout(idle);
        }
        if let Some(on_progress) = self.on_progress.take() {
            call = call.on_progress(on_progress);
        }
        if let Some(meta) = self.meta_with_trace() {
            call = call.meta(meta);
        }
        // Boxed: two small allocations are cheaper than a large one.
        let call = Box::pin(call.raw());
        let outcome = match &self.run {
            None => call.await,
            Some(run) => unless_cancelled(run, call).await.ok_or_else(|| cancelled(listed, true))?,
        };
        let raw = outcome.map_err(|error| call_failed(listed, error))?;
        let result = CallToolResult::from_raw(&raw).map_err(|error| {
            call_failed(listed, CallError::Protocol { method: "tools/call".to_owned(), error })
        })?;
        Ok(CallOutput { raw: Some(raw), result })
    }

    fn meta_with_trace(&self) -> Option<Meta> {
        let Some(traced) = self.host.settings.trace.as_ref().and_then(|trace| trace.current()) else {
            return self.meta.clone();
        };
        let mut meta = self.meta.clone().unwrap_or_default();
        let entries = [(Meta::TRACEPARENT, Some(traced.parent)), (Meta::TRACESTATE, traced.state)];
        for (key, value) in entries {
            if let Some(value) = value.and_then(|value| Raw::encode(&value).ok()) {
                meta.insert(key, value);
            }
        }
        Some(meta)
    }
}

/// Awaits a future unless the run is cancelled first, which drops and so cancels the future.
async fn unless_cancelled<T>(run: &Run, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        done = future => Some(done),
        () = run.cancelled() => None,
    }
}

fn cancelled(listed: &CatalogTool, sent: bool) -> HostError {
    HostError::Cancelled { tool: listed.tool.name.clone(), sent }
}

/// The output of a call.
struct CallOutput {
    /// The result as the server wrote it; `None` for a local tool.
    raw: Option<Raw>,
    result: CallToolResult,
}

fn call_outcome(outcome: &Result<CallOutput, HostError>) -> CallResultKind {
    match outcome {
        Ok(output) if output.result.is_error => CallResultKind::ToolError,
        Ok(_) => CallResultKind::Result,
        Err(_) => CallResultKind::Failure,
    }
}

fn invalid_arguments(listed: &CatalogTool, problem: String) -> HostError {
    let (tool, repair) = (Arc::clone(&listed.qualified), repair_prompt(&listed.tool));
    HostError::Arguments { tool, problem, repair }
}

fn call_failed(listed: &CatalogTool, error: CallError) -> HostError {
    let refused = error.remote().is_some_and(|remote| remote.code == ErrorCode::INVALID_PARAMS);
    HostError::Call {
        server: Arc::clone(&listed.server),
        tool: listed.tool.name.clone(),
        repair: refused.then(|| repair_prompt(&listed.tool)),
        error: Box::new(error),
    }
}

impl IntoFuture for ToolCall {
    type Output = Result<CallToolResult, HostError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move { self.run_call().await.map(|output| output.result) })
    }
}

impl std::fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolCall").field("which", &self.which).finish_non_exhaustive()
    }
}
