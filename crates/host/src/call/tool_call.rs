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

    async fn make(&mut self) -> Result<Made, HostError> {
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
            Ok(_) => return Err(unfit(&listed, "the arguments are a JSON object".to_owned())),
            Err(error) => return Err(unfit(&listed, error.to_string())),
        };
        let span = call_span(&listed);
        if span.is_disabled() {
            return self.made(&listed, &arguments).await;
        }
        let outcome = self.made(&listed, &arguments).instrument(span.clone()).await;
        match &outcome {
            Ok(made) if made.result.is_error => _ = span.record("error.type", "tool_error"),
            Ok(_) => {}
            Err(error) => _ = span.record("error.type", error_type(error)),
        }
        outcome
    }

    /// Everything between the tool and its result.
    async fn made(&mut self, listed: &CatalogTool, arguments: &Raw) -> Result<Made, HostError> {
        let validation = self.host.settings.validation;
        if validation == Validation::On {
            listed.checks.arguments(&listed.tool, arguments).map_err(|problem| unfit(listed, problem))?;
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
            // It may have taken minutes: what was permitted is what was listed then.
            still(&self.host, listed)?;
        }
        let made = match &listed.target {
            Target::Local(own) => {
                let result = match &self.run {
                    None => own.call(arguments.clone(), None).await,
                    Some(run) => {
                        let answer = own.call(arguments.clone(), Some(run));
                        unless_cancelled(run, answer).await.ok_or_else(|| cancelled(listed, true))?
                    }
                };
                Made { raw: None, result }
            }
            Target::Server(slot) => {
                let began = Instant::now();
                let outcome = self.send(listed, slot, arguments).await;
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

    /// Sends it, and again where that cannot do harm.
    async fn send(&mut self, listed: &CatalogTool, slot: &Slot, arguments: &Raw) -> Result<Made, HostError> {
        let not_ready = |status| not_ready(&slot.name, status);
        let turn = match &self.run {
            None => slot.turns.take().await,
            Some(run) => {
                unless_cancelled(run, slot.turns.take()).await.ok_or_else(|| cancelled(listed, false))?
            }
        };
        let _turn = turn.map_err(|_| HostError::Busy { server: Arc::clone(&slot.name) })?;
        let session = match (slot.at_hand(), &self.run) {
            (Some(session), _) => session,
            (None, None) => slot.session().await.map_err(not_ready)?,
            (None, Some(run)) => {
                let session =
                    unless_cancelled(run, slot.session()).await.ok_or_else(|| cancelled(listed, false))?;
                session.map_err(not_ready)?
            }
        };
        let opened = slot.opened();
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
        // Boxed: what happens seldom must not make every call larger.
        let another = Box::pin(slot.session_after(opened));
        let another = match &self.run {
            None => another.await,
            Some(run) => unless_cancelled(run, another)
                .await
                .ok_or_else(|| cancelled(listed, error.outcome_unknown()))?,
        };
        match another {
            Some(session) => Box::pin(self.once(listed, slot, &session, arguments)).await,
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
        let call = Box::pin(call.raw());
        let outcome = match &self.run {
            None => call.await,
            Some(run) => unless_cancelled(run, call).await.ok_or_else(|| cancelled(listed, true))?,
        };
        let raw = outcome.map_err(|error| failed(listed, error))?;
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

/// Waits, unless the run is cancelled first; what was waited for is then dropped, which cancels it.
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
