//! A tool call through the host.

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Instant;

use switchboard_protocol::{CallToolResult, EncodeError, ErrorCode, FromRaw, Raw, ResultType};
use switchboard_session::client::CallOptions;
use switchboard_session::link::{BoxFuture, LinkError};
use switchboard_session::{CallError, ClientSession};
use tracing::Instrument;

use crate::call::error_result::error_result;
use crate::call::repair::repair_prompt;
use crate::call::resolve::{ToolSelector, check_unchanged, resolve};
use crate::call::span::{add_trace, call_span, record_error};
use crate::error::{HostError, needs_auth, not_ready};
use crate::policy::{CallDecision, ProposedCall, ReplayPolicy};
use crate::registry::{CallTarget, CatalogTool};
use crate::run::{self, Run};
use crate::session_scope::SessionScope;
use crate::set::HostState;
use crate::slot::Slot;
use crate::telemetry::CallResultKind;
use crate::validation::Validation;

/// A tool call. Awaiting it returns the result or a typed error; [`execute`](Self::execute) runs it for a model and returns
/// every failure as an error result. Dropping the future cancels the call.
///
/// ```
/// use std::time::Duration;
///
/// use switchboard::host::{HostError, Run};
/// use switchboard::{Host, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::new();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// let run = Run::new();
/// let sum = host.call_tool("sums", "add", json!({ "a": 1, "b": 2 })).within(&run).await?;
/// assert_eq!(sum.text(), "3");
///
/// let slow = host.call_tool("sums", "wait", json!({})).timeout(Duration::from_millis(10));
/// assert!(matches!(slow.await, Err(HostError::Call { .. })));
/// # demo::done() });
/// ```
#[must_use = "a call does nothing until it is awaited"]
pub struct ToolCall {
    host: Arc<HostState>,
    which: ToolSelector,
    arguments: Result<Raw, EncodeError>,
    run: Option<Run>,
    scope: Option<SessionScope>,
    /// The revision of the catalog before the tool was resolved.
    resolved_at: u64,
    options: CallOptions,
    /// Whether a result is decoded; one that is only passed on need not be.
    decodes: bool,
    /// Whether the user has confirmed this call.
    is_confirmed: bool,
}

impl ToolCall {
    pub(crate) fn new(
        host: Arc<HostState>,
        which: ToolSelector,
        arguments: Result<Raw, EncodeError>,
    ) -> Self {
        let options = CallOptions::new();
        Self {
            host,
            which,
            arguments,
            run: None,
            scope: None,
            resolved_at: 0,
            options,
            decodes: true,
            is_confirmed: false,
        }
    }

    /// Makes the call part of a run, which cancels it and answers requests of the server.
    pub fn within(mut self, run: &Run) -> Self {
        self.run = Some(run.clone());
        self
    }

    /// Marks the call as confirmed: the user has seen and confirmed this very call, so a permission that would ask the user is
    /// granted without asking. What is denied stays denied.
    pub fn confirmed(mut self) -> Self {
        self.is_confirmed = true;
        self
    }

    /// Makes the call in the session of this scope instead of the server's main one.
    pub fn in_session(mut self, scope: &SessionScope) -> Self {
        self.scope = Some(scope.clone());
        self
    }

    switchboard_session::call_option_setters!(
        options,
        timeout,
        idle_timeout,
        on_progress,
        on_log,
        meta,
        number
    );

    /// Runs the call for a model: every failure is an error result with the next step, and a large result is spilled to a
    /// file if the host is configured so.
    pub fn execute(mut self) -> BoxFuture<'static, CallToolResult> {
        Box::pin(async move {
            match self.run_decoded().await {
                Ok((raw, result)) => match &self.host.settings.spill {
                    Some(spill) => spill.clone().apply(raw, result).await,
                    None => result,
                },
                Err(error) => error_result(&error),
            }
        })
    }

    /// Runs the call and returns the result as the server wrote it. It is decoded only if its structured content has to be
    /// validated.
    ///
    /// # Errors
    /// As awaiting the call.
    pub fn raw(mut self) -> BoxFuture<'static, Result<Raw, HostError>> {
        self.decodes = self.host.settings.validation == Validation::On;
        Box::pin(async move {
            Ok(match self.run_call().await? {
                CallOutput::Undecoded(raw) | CallOutput::Decoded(Some(raw), _) => raw,
                // The result of a local tool has no JSON text yet; encoding it does not fail.
                CallOutput::Decoded(None, result) => Raw::encode(&result).unwrap_or_else(|_| Raw::null()),
            })
        })
    }

    /// Runs the call, and returns its result with the text it was decoded from.
    async fn run_decoded(&mut self) -> Result<(Option<Raw>, CallToolResult), HostError> {
        match self.run_call().await? {
            CallOutput::Decoded(raw, result) => Ok((raw, result)),
            // An interim result, which the caller has asked for, has no content yet.
            CallOutput::Undecoded(raw) => Ok((Some(raw), CallToolResult::default())),
        }
    }

    /// Runs the call until it is done or its run is cancelled. This is the only place where a cancelled run ends a call:
    /// dropping the future drops whatever it waits for, and a request in flight cancels itself (path A).
    async fn run_call(&mut self) -> Result<CallOutput, HostError> {
        let run = self.run.clone();
        let mut progress = CallProgress::default();
        let outcome = match run.as_ref().is_some_and(Run::is_cancelled) {
            true => None,
            false => tokio::select! {
                biased;
                done = self.run_uncancelled(&mut progress) => Some(done),
                () = cancelled(run.as_ref()) => None,
            },
        };
        let outcome = outcome.unwrap_or_else(|| Err(progress.cancel(self.which.name())));
        match &outcome {
            Ok(output) if output.is_error() => {
                progress.span.record("error.type", "tool_error");
                progress.span.record("otel.status_code", "ERROR");
            }
            Ok(_) => {}
            Err(error) => record_error(&progress.span, error),
        }
        outcome
    }

    async fn run_uncancelled(&mut self, progress: &mut CallProgress) -> Result<CallOutput, HostError> {
        self.resolved_at = self.host.shared.registry.revision();
        let listed = resolve(&self.host, &self.which).await?;
        progress.tool = Some(Arc::clone(&listed));
        let arguments = match std::mem::replace(&mut self.arguments, Ok(Raw::null())) {
            Ok(arguments) if arguments.is_object() => arguments,
            Ok(arguments) if arguments.is_null() => Raw::empty_object(),
            Ok(_) => {
                return Err(invalid_arguments(&listed, "the arguments must be a JSON object".to_owned()));
            }
            Err(error) => return Err(invalid_arguments(&listed, error.to_string())),
        };
        progress.span = call_span(&listed, self.host.settings.span_names);
        if progress.span.is_disabled() {
            return self.run_resolved(&listed, &arguments, progress).await;
        }
        let span = progress.span.clone();
        self.run_resolved(&listed, &arguments, progress).instrument(span).await
    }

    /// Runs the call of a resolved tool: validate, decide, send, check the output.
    async fn run_resolved(
        &mut self,
        listed: &CatalogTool,
        arguments: &Raw,
        progress: &mut CallProgress,
    ) -> Result<CallOutput, HostError> {
        let validation = self.host.settings.validation;
        if validation == Validation::On {
            listed
                .checks
                .arguments(&listed.tool, arguments)
                .map_err(|problem| invalid_arguments(listed, problem))?;
        }
        if let Some(policy) = &self.host.settings.policy {
            let mut proposed = ProposedCall::new(&listed.server, &listed.tool, &listed.qualified, arguments);
            proposed.is_confirmed = self.is_confirmed;
            if let CallDecision::Deny { reason } = policy.decide(&proposed).await {
                return Err(HostError::Refused { tool: Arc::clone(&listed.qualified), reason });
            }
            // The decision may have taken minutes.
            check_unchanged(&self.host, listed)?;
        }
        let output = match &listed.target {
            CallTarget::Local(tool) => {
                progress.sent = true;
                CallOutput::Decoded(None, tool.call(arguments.clone(), self.run.as_ref()).await)
            }
            CallTarget::Server(slot) => {
                let began = Instant::now();
                progress.began = Some(began);
                let outcome = self.send(listed, slot, arguments, &mut progress.sent).await;
                progress.began = None;
                slot.meter.record_call(began, call_outcome(&outcome));
                outcome?
            }
        };
        if validation == Validation::On
            && let CallOutput::Decoded(_, result) = &output
            && let Some(structured) = &result.structured_content
            && !result.is_error
        {
            let tool = Arc::clone(&listed.qualified);
            listed
                .checks
                .output(&listed.tool, structured)
                .map_err(|problem| HostError::Output { tool, problem })?;
        }
        Ok(output)
    }

    /// Sends the call, and repeats it once where that is safe. `sent` is set once the server may have received it.
    async fn send(
        &mut self,
        listed: &CatalogTool,
        main: &Arc<Slot>,
        arguments: &Raw,
        sent: &mut bool,
    ) -> Result<CallOutput, HostError> {
        let in_use = self.host.use_slot(main, self.scope.as_ref()).await?;
        let slot: &Slot = &in_use;
        let _permit =
            slot.limiter.acquire().await.map_err(|_| HostError::Busy { server: Arc::clone(&slot.name) })?;
        let session = match slot.ready_session() {
            Some(session) if main.has_listed() => {
                // The wait for its turn may have taken minutes.
                if self.host.shared.registry.revision() != self.resolved_at {
                    check_unchanged(&self.host, listed)?;
                }
                session
            }
            _ => Box::pin(self.start_session(listed, main, slot)).await?,
        };
        let opened = slot.session_count();
        *sent = true;
        // Before the first attempt: a repeated call keeps its number.
        self.host.shared.connectors.traffic.number_call(&mut self.options);
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
            return Err(needs_auth(slot, &error).unwrap_or_else(|| call_failed(listed, *error)));
        }
        *sent = error.outcome_unknown();
        // Boxed: a rare path must not enlarge the future of every call.
        match Box::pin(self.session_after(listed, main, slot, opened)).await {
            Some(session) => {
                *sent = true;
                Box::pin(self.send_once(listed, slot, &session, arguments)).await
            }
            None => Err(call_failed(listed, *error)),
        }
    }

    /// Waits for the session of a server that is starting. Its tool may have been listed from memory: it must still be the
    /// same when the server lists it anew, which the main session does, before anything is sent.
    async fn start_session(
        &self,
        listed: &CatalogTool,
        main: &Slot,
        slot: &Slot,
    ) -> Result<ClientSession, HostError> {
        if slot.is_keyed() {
            self.host.list_anew(main);
        }
        let session = slot.session().await.map_err(|status| not_ready(&slot.name, status))?;
        self.check_listed(listed, main).await?;
        Ok(session)
    }

    /// Waits for a session that was opened later, of which the same holds.
    async fn session_after(
        &self,
        listed: &CatalogTool,
        main: &Slot,
        slot: &Slot,
        opened: u64,
    ) -> Option<ClientSession> {
        if !slot.is_keyed() {
            return slot.session_after(opened).await;
        }
        self.host.list_anew(main);
        let session = slot.session_after(opened).await?;
        self.check_listed(listed, main).await.ok()?;
        Some(session)
    }

    async fn check_listed(&self, listed: &CatalogTool, main: &Slot) -> Result<(), HostError> {
        if !main.has_listed() {
            // If it has failed, it is tried again, as the keyed session was.
            if let Some(round) = main.restart_after_pause() {
                main.wait_until_settled(round).await;
            }
            main.session().await.map_err(|status| not_ready(&main.name, status))?;
        }
        check_unchanged(&self.host, listed)
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
        let mut options = self.options.clone();
        add_trace(self.host.settings.trace.as_ref(), &mut options);
        if active_call.is_some() {
            options.handler = Some(answers.cloned().unwrap_or_else(|| slot.questions.fallback()));
        }
        self.run.iter().for_each(|run| run.note_session(session.number()));
        let call = session.call_tool_raw(listed.wire_name.clone(), arguments.clone()).options(options);
        // Boxed: two small allocations are cheaper than a large one.
        let raw = Box::pin(call.raw()).await.map_err(|error| call_failed(listed, error))?;
        let may_be_interim = self.options.interim_results;
        if !self.decodes || (may_be_interim && is_interim(&raw, self.options.task.is_some())) {
            return Ok(CallOutput::Undecoded(raw));
        }
        let result = CallToolResult::from_raw(&raw).map_err(|error| {
            call_failed(listed, CallError::Protocol { method: "tools/call".to_owned(), error })
        })?;
        Ok(CallOutput::Decoded(Some(raw), result))
    }
}

/// Waits until the run is cancelled; without a run, forever.
async fn cancelled(run: Option<&Run>) {
    match run {
        Some(run) => run.cancelled().await,
        None => std::future::pending().await,
    }
}

/// The progress of a call, for its telemetry and for the error of a cancelled call.
struct CallProgress {
    tool: Option<Arc<CatalogTool>>,
    span: tracing::Span,
    /// When sending started; `None` before and after.
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
    /// Records a cancelled call and returns its error. `name` is the name the caller used.
    fn cancel(&self, name: &str) -> HostError {
        let tool = self.tool.as_ref();
        if let (Some(CallTarget::Server(slot)), Some(began)) = (tool.map(|tool| &tool.target), self.began) {
            slot.meter.record_call(began, CallResultKind::Failure);
        }
        HostError::Cancelled { tool: tool.map_or(name, |tool| &tool.tool.name).to_owned(), sent: self.sent }
    }
}

/// The output of a call.
enum CallOutput {
    /// The result as the server wrote it: it is passed on, or it is not final.
    Undecoded(Raw),
    /// The result, with the text it was decoded from; a local tool has none.
    Decoded(Option<Raw>, CallToolResult),
}

impl CallOutput {
    fn is_error(&self) -> bool {
        match self {
            Self::Decoded(_, result) => result.is_error,
            Self::Undecoded(raw) => {
                // Most results do not name the member, which a search tells faster than reading all members.
                raw.as_str().contains("isError")
                    && raw.field_texts().any(|(name, value)| name.as_str() == "isError" && value == "true")
            }
        }
    }
}

/// Returns whether a result is not final: it requires input, or it is a task.
fn is_interim(raw: &Raw, as_task: bool) -> bool {
    ResultType::of(raw) != ResultType::Complete
        || (as_task && raw.field_texts().any(|(name, _)| name.as_str() == "task"))
}

fn call_outcome(outcome: &Result<CallOutput, HostError>) -> CallResultKind {
    match outcome {
        Ok(output) if output.is_error() => CallResultKind::ToolError,
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
        Box::pin(async move { self.run_decoded().await.map(|(_, result)| result) })
    }
}

impl std::fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolCall").field("which", &self.which).finish_non_exhaustive()
    }
}
