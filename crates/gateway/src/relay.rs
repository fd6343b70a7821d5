//! Relays one request to its server: progress, log messages, questions, cancellation, and the result.
//!
//! Where both sides speak the modern era, a question passes through with the state of its server sealed into ours: nothing is
//! kept. In all other cells the gateway asks its client itself: for a legacy client that is a request, and the relay goes
//! on; for a modern client the relay is dropped there, the exchange is parked, and the retry takes it from the table. The
//! exchange is started in a *step*, so that a retry never starts it again.

use std::sync::Arc;

use switchboard_host::{Host, HostError, Run, SessionKey, SessionScope};
use switchboard_protocol::{FromRaw, InputRequired, Raw, ResultType, RpcError};
use switchboard_session::client::CallOptions;
use switchboard_session::server::{Caller, RelayedAnswers, RequestContext};
use switchboard_session::{ClientSession, SessionInfo};

use crate::active_calls::CallOwner;
use crate::capabilities::relayed_capabilities;
use crate::error::{from_host, from_host_in_session, from_host_of_call, question_expired, too_many_at_once};
use crate::exchange::{Exchange, NoticeSink, UpstreamCall, UpstreamResult};
use crate::held_exchange::HeldExchange;
use crate::questions::{MAX_QUESTIONS, QuestionHandler, QuestionScope, relayed_question};
use crate::state::GatewayState;
use crate::upstream_error::capability_error;
use crate::upstream_request::{RequestPurpose, UpstreamRequest, UpstreamTarget};

/// The step that starts an exchange; its result is the id of the exchange.
const EXCHANGE_STEP: &str = "exchange";

/// How results that are not final are handled.
enum InterimPolicy {
    /// Questions are answered by the client, as the gateway asks it.
    Answer,
    /// They are returned. The answers of an earlier round are sent along.
    Return(Option<RelayedAnswers>),
}

/// Relays a request and returns the result as the server wrote it. A result of a tool may be a task.
///
/// # Errors
/// The server's own error, or the reason that it could not be asked.
///
/// # Cancellation
/// Dropping the future cancels the upstream call, unless it waits for the answer of a client that retries.
pub(crate) async fn relay(
    state: Arc<GatewayState>,
    cx: RequestContext,
    request: UpstreamRequest,
) -> Result<UpstreamResult, RpcError> {
    let server = Arc::clone(&request.server);
    let result = relay_request(state, cx.clone(), request).await;
    result.map_err(|error| capability_error(&server, error, cx.capabilities()))
}

async fn relay_request(
    state: Arc<GatewayState>,
    cx: RequestContext,
    mut request: UpstreamRequest,
) -> Result<UpstreamResult, RpcError> {
    if let Some(id) = cx.finished_step::<String>(EXCHANGE_STEP) {
        let principal = cx.caller().map(Caller::principal);
        let (exchange, permit) =
            state.parked.take((&id, RequestPurpose::of(&request).digest()), principal.as_deref())?;
        return HeldExchange::new(state, cx, exchange, Some(permit)).result().await;
    }
    // A task is in the session in which it was created.
    if request.lease.is_none() {
        request.scope = state.sharing.scope(&state.host, &cx, &request.server).await?;
    }
    let info = match &request.lease {
        Some(lease) => info_of(&request.server, lease.session()),
        None => upstream_info(&state.host, &request.server, request.scope.as_ref()).await,
    };
    let info = info.map_err(from_host)?;
    let answers = cx.relayed_answers();
    if info.is_self_contained() && cx.replays_handler() {
        return relay_self_contained(state, cx, request, (info, answers)).await;
    }
    // The server has changed its era since it asked.
    if answers.is_some_and(|answers| answers.state.is_some()) {
        return Err(question_expired());
    }
    let related_task = request.related_task.clone();
    let purpose = cx.replays_handler().then(|| RequestPurpose::of(&request));
    let exchange = start(&state, &cx, request, (info, InterimPolicy::Answer));
    // Only a client that retries can find it again.
    let exchange = match purpose {
        Some(purpose) => {
            let exchange = exchange.with_id(&state.options.replica, Some(purpose))?;
            let id = exchange.id.clone();
            cx.step(EXCHANGE_STEP, || async { Ok::<String, RpcError>(id) })
                .await
                .map_err(RpcError::from)??;
            exchange
        }
        None => exchange,
    };
    HeldExchange::new(state, cx, exchange, None).with_related_task(related_task).result().await
}

/// Relays a request between two sides whose requests are self-contained: questions and their answers pass through.
async fn relay_self_contained(
    state: Arc<GatewayState>,
    cx: RequestContext,
    request: UpstreamRequest,
    (info, mut answers): (Arc<SessionInfo>, Option<RelayedAnswers>),
) -> Result<UpstreamResult, RpcError> {
    let purpose = RequestPurpose::of(&request);
    if let Some(answers) = &mut answers {
        answers.state = match answers.state.take() {
            Some(bound) => unbind_state(purpose.digest(), &bound)?,
            None => None,
        };
    }
    let exchange = start(&state, &cx, request, (info, InterimPolicy::Return(answers)));
    let result = HeldExchange::new(state, cx.clone(), exchange, None).result().await?;
    if ResultType::of(&result.raw) != ResultType::InputRequired {
        return Ok(result);
    }
    let mut input = InputRequired::from_raw(&result.raw)
        .map_err(|error| RpcError::internal(format!("the server's question is not valid: {error}")))?;
    if input.input_requests.as_ref().is_some_and(|questions| questions.len() > MAX_QUESTIONS) {
        return Err(too_many_at_once(&purpose.server, MAX_QUESTIONS));
    }
    let questions = input.input_requests.take().map(|questions| {
        questions.into_iter().map(|(key, question)| (key, relayed_question(question))).collect()
    });
    input.input_requests = questions;
    input.request_state = Some(bind_state(purpose.digest(), input.request_state.as_deref()));
    Err(cx.relay_questions(input).await.into())
}

/// Binds the state of a server to what its request is for: no other server gets it.
fn bind_state(purpose: SessionKey, state: Option<&str>) -> String {
    match state {
        Some(state) => format!("{purpose}={state}"),
        None => purpose.to_string(),
    }
}

/// Returns the state of a server.
///
/// # Errors
/// When it was bound to another purpose.
fn unbind_state(purpose: SessionKey, bound: &str) -> Result<Option<String>, RpcError> {
    let rest = bound.strip_prefix(&purpose.to_string()).ok_or_else(question_expired)?;
    Ok(rest.strip_prefix('=').map(str::to_owned))
}

/// Returns what was negotiated with a server; starts it if it sleeps.
pub(crate) async fn upstream_info(
    host: &Host,
    server: &str,
    scope: Option<&SessionScope>,
) -> Result<Arc<SessionInfo>, HostError> {
    if let Some(info) = host.session_info(server, scope) {
        return Ok(info);
    }
    info_of(server, &host.session_in(server, scope).await?)
}

fn info_of(server: &str, session: &ClientSession) -> Result<Arc<SessionInfo>, HostError> {
    match session.info() {
        Ok(info) => Ok(Arc::new(info.clone())),
        Err(error) => Err(HostError::Session { server: server.into(), error: Box::new(error) }),
    }
}

/// Starts the upstream call.
fn start(
    state: &Arc<GatewayState>,
    cx: &RequestContext,
    request: UpstreamRequest,
    (info, interim): (Arc<SessionInfo>, InterimPolicy),
) -> Exchange {
    let (session, owner) = (request.call_session(), CallOwner::of(cx));
    let active = state.active_calls.register(session.clone(), Arc::clone(&owner));
    let calls = Arc::clone(&state.active_calls);
    let (handler, questions) =
        QuestionHandler::new(QuestionScope { calls, session, owner, task: request.awaited_task() });
    let notices = Arc::new(NoticeSink::new(Some(active)));
    let run = Run::with_handler(handler);
    let options = call_options(cx, &request, interim, &notices);
    let call_notices = Arc::clone(&notices);
    let (level, server, is_modern) = (cx.log_level(), Arc::clone(&request.server), cx.replays_handler());
    let target = match &request.target {
        UpstreamTarget::Tool { name, .. } => name.clone(),
        UpstreamTarget::Method { method, .. } => (*method).to_owned(),
    };
    // Not the state itself: it owns the parked calls.
    let (host, run_there) = (state.host.clone(), run.clone());
    let call: UpstreamCall = Box::pin(async move {
        let run = run_there;
        match (level, &request.lease) {
            (Some(level), Some(lease)) => lease.ensure_log_level(level).await,
            // The failure is that of the call, too.
            (Some(level), None) => {
                _ = host.ensure_log_level(&request.server, request.scope.as_ref(), level).await;
            }
            (None, _) => {}
        }
        let UpstreamRequest { server, target, scope, lease, .. } = request;
        let sent = match target {
            UpstreamTarget::Tool { name, arguments } => {
                let call = host.call_tool(&*server, name, arguments).options(options).within(&run);
                match &scope {
                    Some(scope) => call.in_session(scope).raw().await,
                    None => call.raw().await,
                }
            }
            UpstreamTarget::Method { method, params } => {
                let call = host.request(&server, method, params).options(options).within(&run);
                match (&lease, &scope) {
                    (Some(lease), _) => call.in_open_session(lease).await,
                    (None, Some(scope)) => call.in_session(scope).await,
                    (None, None) => call.await,
                }
            }
        };
        let goes_on = |error: &HostError| match error {
            HostError::Call { error, .. } | HostError::Session { error, .. } => error.remote().is_none(),
            _ => false,
        };
        if !sent.as_ref().is_err_and(goes_on) {
            call_notices.set_answered();
        }
        let raw = sent.map_err(if is_modern { from_host_of_call } else { from_host_in_session })?;
        Ok(UpstreamResult { raw, revision: info.revision, session: run.last_session() })
    });
    Exchange::new((server, run), call, questions, notices).with_target(target)
}

/// Returns the options of an upstream call.
fn call_options(
    cx: &RequestContext,
    request: &UpstreamRequest,
    interim: InterimPolicy,
    notices: &Arc<NoticeSink>,
) -> CallOptions {
    let (progress, logs, shared) = (Arc::clone(notices), Arc::clone(notices), Arc::clone(notices));
    let mut options = CallOptions::new()
        .capabilities(relayed_capabilities(cx.capabilities(), request.offer))
        .on_progress(move |report| progress.progress(&report))
        .on_log(move |message| logs.log(message))
        .on_shared_log(move |message| shared.shared_log(message));
    options.meta.clone_from(&request.meta);
    options.timeout = request.timeout;
    options.task.clone_from(&request.task);
    options.interim_results = request.task.is_some();
    if let InterimPolicy::Return(answers) = interim {
        options.interim_results = true;
        if let Some(RelayedAnswers { responses, state, .. }) = answers {
            let responses = (!responses.is_empty()).then(|| Raw::encode(&responses).ok()).flatten();
            options = options.retry(responses, state);
        }
    }
    options
}
