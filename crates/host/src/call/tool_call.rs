//! A call of a tool through the host, to be set up and awaited.

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Instant;

use switchboard_protocol::{CallToolResult, EncodeError, ErrorCode, FromRaw, Meta, Raw};
use switchboard_session::client::CallOptions;
use switchboard_session::link::{BoxFuture, LinkError};
use switchboard_session::{CallError, ClientSession};
use tracing::Instrument;

use crate::call::resolve::{Which, resolve, still};
use crate::call::span::{call_span, error_type};
use crate::call::{repair, shape};
use crate::error::{HostError, not_ready};
use crate::policy::{CallDecision, ProposedCall, Replay};
use crate::question_router::Silent;
use crate::registry::{CatalogTool, Target};
use crate::run::{self, Run};
use crate::set::Inner;
use crate::slot::Slot;
use crate::telemetry::Ending;
use crate::validation::Validation;

/// A call of a tool. Awaiting it makes it and gives a typed error or a result; [`execute`](Self::execute) makes it for
/// a model, which gets every failure as a result. Dropping it while it runs cancels it.
#[must_use = "a call does nothing until it is awaited"]
pub struct ToolCall {
    host: Arc<Inner>,
    which: Which,
    arguments: Result<Raw, EncodeError>,
    run: Option<Run>,
    options: CallOptions,
}

impl ToolCall {
    pub(crate) fn new(host: Arc<Inner>, which: Which, arguments: Result<Raw, EncodeError>) -> Self {
        Self { host, which, arguments, run: None, options: CallOptions::new() }
    }

    /// Makes it part of a run: cancelled with it, and its questions answered by it.
    pub fn within(mut self, run: &Run) -> Self {
        self.run = Some(run.clone());
        self
    }

    switchboard_session::call_option_setters!(timeout, idle_timeout, on_progress, meta);

    /// Makes the call for a model: every failure is a result that says so, with the next step, and a result too large
    /// for a model goes to a file where the host's policy says so.
    pub fn execute(mut self) -> BoxFuture<'static, CallToolResult> {
        Box::pin(async move {
            match self.make().await {
                Ok(Made { raw, result }) => match &self.host.settings.spill {
                    Some(spill) => spill.clone().shaped(raw, result).await,
                    None => result,
                },
                Err(error) => shape::failure(&error),
            }
        })
    }

    /// Makes the call and gives its result as the server wrote it.
    ///
    /// # Errors
    /// As awaiting it.
    pub fn raw(mut self) -> BoxFuture<'static, Result<Raw, HostError>> {
        Box::pin(async move {
            let Made { raw, result } = self.make().await?;
            // A tool of the application wrote nothing: what it means is written now, which does not fail.
            Ok(raw.unwrap_or_else(|| Raw::encode(&result).unwrap_or_else(|_| Raw::null())))
        })
    }

    /// Makes the call until it is done or its run is cancelled. This is the only place where a cancelled run ends a call:
    /// dropping the future drops whatever it waits for, and a request in flight cancels itself (path A).
    async fn make(&mut self) -> Result<Made, HostError> {
        let run = self.run.clone();
        let mut progress = CallProgress::default();
        let outcome = match run.as_ref().is_some_and(Run::is_cancelled) {
            true => None,
            false => tokio::select! {
                biased;
                done = self.make_uncancelled(&mut progress) => Some(done),
                () = cancelled(run.as_ref()) => None,
            },
        };
        let outcome = outcome.unwrap_or_else(|| Err(progress.cancel(self.which.name())));
        match &outcome {
            Ok(made) if made.result.is_error => _ = progress.span.record("error.type", "tool_error"),
            Ok(_) => {}
            Err(error) => _ = progress.span.record("error.type", error_type(error)),
        }
        outcome
    }

    async fn make_uncancelled(&mut self, progress: &mut CallProgress) -> Result<Made, HostError> {
        let listed = resolve(&self.host, &self.which).await?;
        progress.tool = Some(Arc::clone(&listed));
        let arguments = match std::mem::replace(&mut self.arguments, Ok(Raw::null())) {
            Ok(arguments) if arguments.is_object() => arguments,
            Ok(arguments) if arguments.is_null() => Raw::empty_object(),
            Ok(_) => return Err(unfit(&listed, "the arguments are a JSON object".to_owned())),
            Err(error) => return Err(unfit(&listed, error.to_string())),
        };
        progress.span = call_span(&listed);
        if progress.span.is_disabled() {
            return self.made(&listed, &arguments, progress).await;
        }
        let span = progress.span.clone();
        self.made(&listed, &arguments, progress).instrument(span).await
    }

    /// Everything between the tool and its result.
    async fn made(
        &mut self,
        listed: &CatalogTool,
        arguments: &Raw,
        progress: &mut CallProgress,
    ) -> Result<Made, HostError> {
        let validation = self.host.settings.validation;
        if validation == Validation::On {
            listed.checks.arguments(&listed.tool, arguments).map_err(|problem| unfit(listed, problem))?;
        }
        if let Some(policy) = &self.host.settings.policy {
            let proposed = ProposedCall::new(&listed.server, &listed.tool, &listed.qualified, arguments);
            if let CallDecision::Deny { reason } = policy.decide(&proposed).await {
                return Err(HostError::Refused { tool: Arc::clone(&listed.qualified), reason });
            }
            // It may have taken minutes: what was permitted is what was listed then.
            still(&self.host, listed)?;
        }
        let made = match &listed.target {
            Target::Local(own) => {
                progress.sent = true;
                Made { raw: None, result: own.call(arguments.clone(), self.run.as_ref()).await }
            }
            Target::Server(slot) => {
                let began = Instant::now();
                progress.began = Some(began);
                let outcome = self.send(listed, slot, arguments, &mut progress.sent).await;
                progress.began = None;
                slot.meter.called(began.elapsed(), ending(&outcome));
                outcome?
            }
        };
        if validation == Validation::On
            && let Some(structured) = &made.result.structured_content
            && !made.result.is_error
        {
            let tool = Arc::clone(&listed.qualified);
            listed
                .checks
                .output(&listed.tool, structured)
                .map_err(|problem| HostError::Output { tool, problem })?;
        }
        Ok(made)
    }

    /// Sends it, and again where that cannot do harm. `sent` says whether the server may have received it.
    async fn send(
        &mut self,
        listed: &CatalogTool,
        slot: &Slot,
        arguments: &Raw,
        sent: &mut bool,
    ) -> Result<Made, HostError> {
        let _turn =
            slot.turns.take().await.map_err(|_| HostError::Busy { server: Arc::clone(&slot.name) })?;
        let session = match slot.at_hand() {
            Some(session) => session,
            None => slot.session().await.map_err(|status| not_ready(&slot.name, status))?,
        };
        let opened = slot.opened();
        *sent = true;
        let error = match self.once(listed, slot, &session, arguments).await {
            Err(HostError::Call { error, .. }) => error,
            other => return other,
        };
        slot.note(&error);
        let never_left = matches!(*error, CallError::Link(LinkError::Lost { sent: false, .. }));
        let may_repeat = error.outcome_unknown()
            && matches!(*error, CallError::Link(_) | CallError::Closed)
            && self.host.settings.replay == Replay::Idempotent
            && listed.effects().is_idempotent();
        if !never_left && !may_repeat {
            return Err(failed(listed, *error));
        }
        *sent = error.outcome_unknown();
        // Boxed: what happens seldom must not make every call larger.
        match Box::pin(slot.session_after(opened)).await {
            Some(session) => {
                *sent = true;
                Box::pin(self.once(listed, slot, &session, arguments)).await
            }
            None => Err(failed(listed, *error)),
        }
    }

    async fn once(
        &mut self,
        listed: &CatalogTool,
        slot: &Slot,
        session: &ClientSession,
        arguments: &Raw,
    ) -> Result<Made, HostError> {
        let (id, answers) = match &self.run {
            Some(run) => (run.id(), run.answers()),
            None => (run::next_id(), None),
        };
        let active_call = slot.questions.register_call(id, answers);
        let mut options = self.options.clone();
        self.add_trace(&mut options);
        if active_call.is_some() {
            options.handler = Some(answers.cloned().unwrap_or_else(|| Arc::new(Silent)));
        }
        let call = session.call_tool_raw(listed.wire.clone(), arguments.clone()).options(options);
        // Boxed: two small pieces of memory are at hand where a large one would have to be looked for.
        let raw = Box::pin(call.raw()).await.map_err(|error| failed(listed, error))?;
        let result = CallToolResult::from_raw(&raw).map_err(|error| {
            failed(listed, CallError::Protocol { method: "tools/call".to_owned(), error })
        })?;
        Ok(Made { raw: Some(raw), result })
    }

    fn add_trace(&self, options: &mut CallOptions) {
        let Some(traced) = self.host.settings.trace.as_ref().and_then(|trace| trace.current()) else {
            return;
        };
        let meta = options.meta.get_or_insert_default();
        let entries = [(Meta::TRACEPARENT, Some(traced.parent)), (Meta::TRACESTATE, traced.state)];
        for (key, value) in entries {
            if let Some(value) = value.and_then(|value| Raw::encode(&value).ok()) {
                meta.insert(key, value);
            }
        }
    }
}

/// Waits until the run is cancelled; without a run, forever.
async fn cancelled(run: Option<&Run>) {
    match run {
        Some(run) => run.cancelled().await,
        None => std::future::pending().await,
    }
}

/// How far a call has come.
struct CallProgress {
    tool: Option<Arc<CatalogTool>>,
    span: tracing::Span,
    /// When it began to be sent, until that has ended.
    began: Option<Instant>,
    /// Whether the server may have received it.
    sent: bool,
}

impl Default for CallProgress {
    fn default() -> Self {
        Self { tool: None, span: tracing::Span::none(), began: None, sent: false }
    }
}

impl CallProgress {
    /// Counts a call that was cancelled, and returns its error. `name` is the name it was called by.
    fn cancel(&self, name: &str) -> HostError {
        let tool = self.tool.as_ref();
        if let (Some(Target::Server(slot)), Some(began)) = (tool.map(|tool| &tool.target), self.began) {
            slot.meter.called(began.elapsed(), Ending::Failure);
        }
        HostError::Cancelled { tool: tool.map_or(name, |tool| &tool.tool.name).to_owned(), sent: self.sent }
    }
}

/// What a call gave.
struct Made {
    /// As the server wrote it.
    raw: Option<Raw>,
    result: CallToolResult,
}

fn ending(outcome: &Result<Made, HostError>) -> Ending {
    match outcome {
        Ok(made) if made.result.is_error => Ending::ToolError,
        Ok(_) => Ending::Result,
        Err(_) => Ending::Failure,
    }
}

fn unfit(listed: &CatalogTool, problem: String) -> HostError {
    let (tool, repair) = (Arc::clone(&listed.qualified), repair::prompt(&listed.tool));
    HostError::Arguments { tool, problem, repair }
}

fn failed(listed: &CatalogTool, error: CallError) -> HostError {
    let refused = error.remote().is_some_and(|remote| remote.code == ErrorCode::INVALID_PARAMS);
    HostError::Call {
        server: Arc::clone(&listed.server),
        tool: listed.tool.name.clone(),
        repair: refused.then(|| repair::prompt(&listed.tool)),
        error: Box::new(error),
    }
}

impl IntoFuture for ToolCall {
    type Output = Result<CallToolResult, HostError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move { self.make().await.map(|made| made.result) })
    }
}

impl std::fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolCall").field("which", &self.which).finish_non_exhaustive()
    }
}
