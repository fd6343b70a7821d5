//! A call of a tool through the host, to be set up and awaited.

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::{Duration, Instant};

use switchboard_protocol::{CallToolResult, EncodeError, ErrorCode, Meta, ProgressParams, Raw};
use switchboard_session::link::{BoxFuture, LinkError};
use switchboard_session::{CallError, ClientSession};
use tracing::Instrument;

use crate::call::{Permit, Permitted, Proposed, Run, Spill, Validation, repair, run, shape};
use crate::error::HostError;
use crate::host::Inner;
use crate::registry::{Catalog, Listed, Switch, Target, Why};
use crate::slot::{Slot, Status};
use crate::telemetry::{Ending, call_span, error_type};

/// Whether a call whose outcome is unknown is made again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replay {
    /// Never.
    #[default]
    Never,
    /// Once, if the tool says that it is read-only or idempotent. Only for servers whose word is trusted.
    Idempotent,
}

/// Says which trace a call belongs to.
pub trait TraceContext: Send + Sync + 'static {
    /// The context of now. Asked inside the span of the call.
    fn current(&self) -> Option<Traced>;
}

/// A trace, in the words of W3C Trace Context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// `traceparent`.
    pub parent: String,
    /// `tracestate`.
    pub state: Option<String>,
}

/// What holds for all calls of a host.
#[derive(Default)]
pub(crate) struct CallPolicy {
    pub(crate) permit: Option<Arc<dyn Permit>>,
    pub(crate) replay: Replay,
    pub(crate) validation: Validation,
    pub(crate) spill: Option<Spill>,
    pub(crate) trace: Option<Arc<dyn TraceContext>>,
}

/// Which tool is meant.
#[derive(Clone, Debug)]
pub(crate) enum Which {
    /// A tool of a server, under the server's name for it.
    Pair { server: String, tool: String },
    /// Either of its names.
    Name(String),
    /// One that was looked up.
    Listed(Arc<Listed>),
}

type OnProgress = Box<dyn FnMut(ProgressParams) + Send>;

/// A call of a tool. Awaiting it makes it and gives a typed error or a result; [`execute`](Self::execute) makes it for
/// a model, which gets every failure as a result. Dropping it while it runs cancels it.
#[must_use = "a call does nothing until it is awaited"]
pub struct ToolCall {
    host: Arc<Inner>,
    which: Which,
    arguments: Result<Raw, EncodeError>,
    run: Option<Run>,
    total: Option<Duration>,
    idle: Option<Duration>,
    on_progress: Option<OnProgress>,
    meta: Option<Meta>,
}

impl ToolCall {
    pub(crate) fn new(host: Arc<Inner>, which: Which, arguments: Result<Raw, EncodeError>) -> Self {
        Self { host, which, arguments, run: None, total: None, idle: None, on_progress: None, meta: None }
    }

    /// Makes it part of a run: cancelled with it, and its questions answered by it.
    pub fn within(mut self, run: &Run) -> Self {
        self.run = Some(run.clone());
        self
    }

    /// How long it may take in all.
    pub fn timeout(mut self, total: Duration) -> Self {
        self.total = Some(total);
        self
    }

    /// How long it may go without a word on it.
    pub fn idle_timeout(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Is told of progress, in order, before the result comes.
    pub fn on_progress(mut self, tell: impl FnMut(ProgressParams) + Send + 'static) -> Self {
        self.on_progress = Some(Box::new(tell));
        self
    }

    /// What else travels in `_meta`.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Makes the call for a model: every failure is a result that says so, with the next step, and a result too large
    /// for a model goes to a file where the host's policy says so.
    pub fn execute(self) -> BoxFuture<'static, CallToolResult> {
        Box::pin(async {
            let host = Arc::clone(&self.host);
            match self.make().await {
                Ok(Made { raw, result }) => match &host.policy.spill {
                    Some(spill) => spill.shape(raw.as_ref(), result),
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
    pub fn raw(self) -> BoxFuture<'static, Result<Raw, HostError>> {
        Box::pin(async {
            let Made { raw, result } = self.make().await?;
            // A tool of the application wrote nothing: what it means is written now, which does not fail.
            Ok(raw.unwrap_or_else(|| Raw::encode(&result).unwrap_or_else(|_| Raw::null())))
        })
    }

    async fn make(mut self) -> Result<Made, HostError> {
        let listed = resolve(&self.host, &self.which).await?;
        let arguments = match std::mem::replace(&mut self.arguments, Ok(Raw::null())) {
            Ok(arguments) if arguments.is_null() => Raw::empty_object(),
            Ok(arguments) => arguments,
            Err(error) => return Err(unfit(&listed, error.to_string())),
        };
        if !arguments.is_object() {
            return Err(unfit(&listed, "the arguments are a JSON object".to_owned()));
        }
        let span = call_span(&listed);
        if span.is_disabled() {
            return self.made(&listed, arguments).await;
        }
        let outcome = self.made(&listed, arguments).instrument(span.clone()).await;
        match &outcome {
            Ok(made) if made.result.is_error => _ = span.record("error.type", "tool_error"),
            Ok(_) => {}
            Err(error) => _ = span.record("error.type", error_type(error)),
        }
        outcome
    }

    /// Everything between the tool and its result.
    async fn made(mut self, listed: &Listed, arguments: Raw) -> Result<Made, HostError> {
        let host = Arc::clone(&self.host);
        if host.policy.validation == Validation::On {
            listed.checks.arguments(&listed.tool, &arguments).map_err(|problem| unfit(listed, problem))?;
        }
        if self.run.as_ref().is_some_and(Run::is_cancelled) {
            return Err(HostError::Cancelled { tool: listed.tool.name.clone(), sent: false });
        }
        if let Some(permit) = &host.policy.permit {
            let proposed = Proposed::new(&listed.server, &listed.tool, &listed.qualified, &arguments);
            if let Permitted::No { reason } = permit.permit(&proposed).await {
                return Err(HostError::Refused { tool: Arc::clone(&listed.qualified), reason });
            }
        }
        let made = match &listed.target {
            Target::Own(own) => {
                let run = self.run.as_ref();
                let result = unless_cancelled(run, listed, own.call(arguments, run)).await?;
                Made { raw: None, result }
            }
            Target::Server(slot) => {
                let began = Instant::now();
                let outcome = self.send(listed, slot, arguments).await;
                slot.meter.called(began.elapsed(), ending(&outcome));
                outcome?
            }
        };
        if host.policy.validation == Validation::On
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
    async fn send(&mut self, listed: &Listed, slot: &Slot, arguments: Raw) -> Result<Made, HostError> {
        let not_ready = |status| not_ready(&slot.name, status);
        let session = slot.session().await.map_err(not_ready)?;
        let opened = slot.opened();
        let error = match self.once(listed, slot, &session, &arguments).await {
            Err(HostError::Call { error, .. }) => error,
            other => return other,
        };
        slot.note(&error);
        let never_left = matches!(*error, CallError::Link(LinkError::Lost { sent: false, .. }));
        let may_repeat = error.outcome_unknown()
            && matches!(*error, CallError::Link(_) | CallError::Closed)
            && self.host.policy.replay == Replay::Idempotent
            && listed.effects().is_idempotent();
        if !never_left && !may_repeat {
            return Err(failed(listed, *error));
        }
        // Boxed: what happens seldom must not make every call larger.
        match Box::pin(slot.session_after(opened)).await {
            Some(session) => Box::pin(self.once(listed, slot, &session, &arguments)).await,
            None => Err(failed(listed, *error)),
        }
    }

    async fn once(
        &mut self,
        listed: &Listed,
        slot: &Slot,
        session: &ClientSession,
        arguments: &Raw,
    ) -> Result<Made, HostError> {
        let (id, answers) = match &self.run {
            Some(run) => (run.id(), run.answers()),
            None => (run::next_id(), None),
        };
        let _seat = slot.desk.sit(id, answers);
        let mut call = session.call_tool(listed.tool.name.as_str(), arguments);
        if let Some(total) = self.total {
            call = call.timeout(total);
        }
        if let Some(idle) = self.idle {
            call = call.idle_timeout(idle);
        }
        if let Some(tell) = self.on_progress.take() {
            call = call.on_progress(tell);
        }
        if let Some(meta) = self.meta_with_trace() {
            call = call.meta(meta);
        }
        let outcome = unless_cancelled(self.run.as_ref(), listed, call.raw()).await?;
        let raw = outcome.map_err(|error| failed(listed, error))?;
        let result = CallToolResult::read(&raw).map_err(|error| {
            failed(listed, CallError::Protocol { method: "tools/call".to_owned(), error })
        })?;
        Ok(Made { raw: Some(raw), result })
    }

    fn meta_with_trace(&self) -> Option<Meta> {
        let Some(traced) = self.host.policy.trace.as_ref().and_then(|trace| trace.current()) else {
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

/// Finds the tool; waits for a server that has just been started, or has to be.
async fn resolve(host: &Inner, which: &Which) -> Result<Arc<Listed>, HostError> {
    let catalog = host.around.registry.snapshot();
    match which {
        Which::Listed(listed) => allowed(&catalog, listed),
        Which::Name(name) => match catalog.find(name) {
            Some(found) => Ok(found.tool),
            None => Err(missing(host, &catalog, name)),
        },
        Which::Pair { server, tool } => {
            if let Some(listed) = catalog.of_server(server, tool) {
                return allowed(&catalog, listed);
            }
            let slot = catalog.part(server).and_then(|part| part.slot.clone());
            let Some(slot) = slot else { return Err(host.not_connected(server)) };
            slot.session().await.map_err(|status| not_ready(&slot.name, status))?;
            let catalog = host.around.registry.snapshot();
            match catalog.of_server(server, tool) {
                Some(listed) => allowed(&catalog, listed),
                None => Err(HostError::UnknownTool { tool: tool.clone(), near: catalog.near(tool) }),
            }
        }
    }
}

/// Waits, unless the run is cancelled first; what was waited for is then dropped, which cancels it.
async fn unless_cancelled<T>(
    run: Option<&Run>,
    listed: &Listed,
    future: impl Future<Output = T>,
) -> Result<T, HostError> {
    let Some(run) = run else { return Ok(future.await) };
    tokio::select! {
        biased;
        done = future => Ok(done),
        () = run.cancelled() => Err(HostError::Cancelled { tool: listed.tool.name.clone(), sent: true }),
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

/// The tool, if it may be used.
fn allowed(catalog: &Catalog, listed: &Arc<Listed>) -> Result<Arc<Listed>, HostError> {
    let server = || Arc::clone(&listed.server);
    let Some(part) = catalog.part(&listed.server) else {
        return Err(not_ready(&listed.server, Status::Stopped));
    };
    if part.switch == Switch::Off {
        return Err(not_ready(&listed.server, Status::Disabled));
    }
    // One that was looked up earlier may be another by now.
    let now = catalog.of_server(&listed.server, &listed.tool.name).unwrap_or(listed);
    match catalog.withheld(now) {
        Some(reason) => Err(HostError::Withheld {
            server: server(),
            tool: listed.tool.name.clone(),
            reason: Box::new(reason.clone()),
        }),
        None => Ok(Arc::clone(now)),
    }
}

/// Why there is no tool of this name.
fn missing(host: &Inner, catalog: &Catalog, name: &str) -> HostError {
    let tool = || name.to_owned();
    match catalog.why(name, &host.statuses()) {
        Why::Withheld { server, reason } => {
            HostError::Withheld { server, tool: tool(), reason: Box::new(reason) }
        }
        Why::Disabled { server } => not_ready(&server, Status::Disabled),
        Why::Unknown { near, .. } => HostError::UnknownTool { tool: tool(), near },
        Why::Shown { .. } | Why::Rejected { .. } => HostError::UnknownTool { tool: tool(), near: Vec::new() },
    }
}

pub(crate) fn not_ready(server: &Arc<str>, status: Status) -> HostError {
    match status {
        Status::NeedsAuth(challenge) => {
            HostError::NeedsAuth { server: Arc::clone(server), challenge: Box::new(challenge) }
        }
        status => HostError::NotReady { server: Arc::clone(server), status: Box::new(status) },
    }
}

fn unfit(listed: &Listed, problem: String) -> HostError {
    let (tool, repair) = (Arc::clone(&listed.qualified), repair::prompt(&listed.tool));
    HostError::Arguments { tool, problem, repair }
}

fn failed(listed: &Listed, error: CallError) -> HostError {
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

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async { self.make().await.map(|made| made.result) })
    }
}

impl std::fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolCall").field("which", &self.which).finish_non_exhaustive()
    }
}
