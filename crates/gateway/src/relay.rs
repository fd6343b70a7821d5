//! Relays one request to its server: progress, log messages, questions, cancellation, and the result.
//!
//! One code path for both eras on both sides. A question is asked with [`RequestContext::ask_raw`]: for a legacy client that
//! is a request, and the relay goes on; for a modern client the relay is dropped there, the exchange is parked, and the
//! retry takes it from the table. The exchange is started in a *step*, so that a retry never starts it again.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use switchboard_host::{Host, HostError, Run};
use switchboard_protocol::{ElicitParams, InputRequest, Meta, Raw, Revision, RpcError};
use switchboard_session::client::HandlerError;
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{AskError, Caller, RequestContext};
use tokio::time::Sleep;

use crate::error::from_host;
use crate::exchange::{Exchange, NoticeSink, UpstreamCall, UpstreamResult};
use crate::parked::ParkedPermit;
use crate::questions::QuestionHandler;
use crate::state::{GatewayState, UrlQuestionGuard};

/// How long a question waits for others of the same call, so that a client that retries answers them together.
const GATHER: Duration = Duration::from_millis(25);

/// A request for one server.
pub(crate) struct UpstreamRequest {
    pub(crate) server: Arc<str>,
    pub(crate) target: UpstreamTarget,
    /// What passes of the client's `_meta`.
    pub(crate) meta: Option<Meta>,
}

/// What a request is for.
pub(crate) enum UpstreamTarget {
    /// A tool, by its name on the server.
    Tool { name: String, arguments: Raw },
    /// Another method.
    Method { method: &'static str, params: Raw },
}

/// Relays a request and returns the result as the server wrote it.
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
    let mut started = None;
    let starting = &mut started;
    let begin = || async {
        let exchange = start(&state, &cx, request)?;
        let id = exchange.id.clone();
        *starting = Some(exchange);
        Ok::<String, RpcError>(id)
    };
    let id = cx.step("exchange", begin).await.map_err(RpcError::from)??;
    let principal = cx.caller().map(Caller::principal);
    let (exchange, permit) = match started {
        Some(exchange) => (exchange, None),
        None => {
            let (exchange, permit) = state.parked.take(&id, principal.as_deref())?;
            (exchange, Some(permit))
        }
    };
    exchange.notices.attach(Some(cx.clone()));
    let keep_alive = cx.wants_progress().then(|| Box::pin(tokio::time::sleep(state.options.keep_alive)));
    let mut held = HeldExchange {
        exchange: Some(exchange),
        asks: Vec::new(),
        permit,
        principal,
        may_park: cx.replays_handler(),
        gather: None,
        keep_alive,
        cx,
        state,
    };
    // Questions of an earlier round are asked at once: their answers are here.
    held.ask_new_questions()?;
    poll_fn(|task| held.poll(task)).await
}

/// Starts the upstream call.
fn start(
    state: &Arc<GatewayState>,
    cx: &RequestContext,
    request: UpstreamRequest,
) -> Result<Exchange, RpcError> {
    let (handler, questions) = QuestionHandler::new();
    let notices = Arc::new(NoticeSink::new());
    let run = Run::with_handler(handler);
    let (level, server) = (cx.log_level(), Arc::clone(&request.server));
    // Not the state itself: it owns the parked calls.
    let (host, log_levels, sink) = (state.host.clone(), Arc::clone(&state.log_levels), Arc::clone(&notices));
    let call: UpstreamCall = Box::pin(async move {
        if let Some(level) = level {
            log_levels.ensure(&host, &request.server, level).await;
        }
        let server = Arc::clone(&request.server);
        let raw = send(&host, request, &run, sink).await.map_err(from_host)?;
        // A server that has just disconnected spoke the revision that is hardest to pass on.
        let status = host.state(&server).ok();
        let info = status.as_ref().and_then(|status| status.session_info());
        Ok(UpstreamResult { raw, revision: info.map_or(Revision::LATEST, |info| info.revision) })
    });
    Exchange::new(server, call, questions, notices)
}

/// Sends the request to its server.
async fn send(
    host: &Host,
    request: UpstreamRequest,
    run: &Run,
    notices: Arc<NoticeSink>,
) -> Result<Raw, HostError> {
    let UpstreamRequest { server, target, meta } = request;
    let sink = Arc::clone(&notices);
    match target {
        UpstreamTarget::Tool { name, arguments } => {
            let mut call = host
                .call_tool(&*server, name, arguments)
                .within(run)
                .on_progress(move |report| sink.progress(&report))
                .on_log(move |message| notices.log(message));
            if let Some(meta) = meta {
                call = call.meta(meta);
            }
            call.raw().await
        }
        UpstreamTarget::Method { method, params } => {
            let mut call = host
                .request(&server, method, params)
                .within(run)
                .on_progress(move |report| sink.progress(&report))
                .on_log(move |message| notices.log(message));
            if let Some(meta) = meta {
                call = call.meta(meta);
            }
            call.await
        }
    }
}

/// An exchange while a request of its client is open. Dropping it parks or cancels the upstream call.
struct HeldExchange {
    /// `None` when it is over.
    exchange: Option<Exchange>,
    /// Questions that the client is being asked.
    asks: Vec<Ask>,
    /// Room in the table, reserved before the first question.
    permit: Option<ParkedPermit>,
    principal: Option<String>,
    may_park: bool,
    /// Runs while new questions wait for others.
    gather: Option<Pin<Box<Sleep>>>,
    keep_alive: Option<Pin<Box<Sleep>>>,
    cx: RequestContext,
    state: Arc<GatewayState>,
}

/// A question that the client is being asked.
struct Ask {
    key: String,
    answer: BoxFuture<'static, Result<Raw, AskError>>,
    /// Held while the user may visit the URL of the question.
    _url: Option<UrlQuestionGuard>,
}

impl HeldExchange {
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Result<UpstreamResult, RpcError>> {
        let Some(exchange) = &mut self.exchange else { return Poll::Pending };
        if let Poll::Ready(outcome) = exchange.poll(task) {
            self.exchange = None;
            return Poll::Ready(outcome);
        }
        if self.is_gathering(task) {
            return Poll::Pending;
        }
        if let Err(error) = self.ask_new_questions() {
            self.exchange = None;
            return Poll::Ready(Err(error));
        }
        self.poll_answers(task);
        if let (Some(timer), Some(exchange)) = (&mut self.keep_alive, &self.exchange) {
            while timer.as_mut().poll(task).is_ready() {
                let next = exchange.notices.keep_alive(self.state.options.keep_alive);
                timer.as_mut().reset(next);
            }
        }
        Poll::Pending
    }

    /// Returns whether new questions wait for others. Only a client that retries gets all questions of a round at once.
    fn is_gathering(&mut self, task: &mut Context<'_>) -> bool {
        let is_new = |key: &str| self.asks.iter().all(|ask| ask.key != key);
        let has_new = self
            .exchange
            .as_ref()
            .is_some_and(|exchange| exchange.outstanding.iter().any(|question| is_new(&question.key)));
        if !has_new || !self.may_park || !self.asks.is_empty() {
            return false;
        }
        let timer = self.gather.get_or_insert_with(|| Box::pin(tokio::time::sleep(GATHER)));
        let is_pending = timer.as_mut().poll(task).is_pending();
        if !is_pending {
            self.gather = None;
        }
        is_pending
    }

    /// Asks the client every question that it is not being asked yet, and stops asking those that the server has cancelled.
    ///
    /// # Errors
    /// When there is no room to park the call.
    fn ask_new_questions(&mut self) -> Result<(), RpcError> {
        let Some(exchange) = &mut self.exchange else { return Ok(()) };
        self.asks.retain(|ask| exchange.outstanding.iter().any(|question| question.key == ask.key));
        let server = Arc::clone(&exchange.server);
        let is_new = |key: &str| self.asks.iter().all(|ask| ask.key != key);
        let new = exchange.outstanding.iter().filter(|question| is_new(&question.key));
        let new: Vec<_> = new.map(|question| (question.key.clone(), question.request.clone())).collect();
        for (key, request) in new {
            match self.cx.check_question(&request) {
                Ok(()) => {
                    if self.may_park && self.permit.is_none() {
                        self.permit = Some(self.state.parked.reserve(self.principal.as_deref(), &server)?);
                    }
                    self.asks.push(Ask::new(&self.state, &self.cx, key, request));
                }
                // The request fails with the capability that its client lacks; the call has no use then. Roots are no
                // question to a user: servers that ask for them, as they do before their first call, go on without.
                Err(AskError::Undeclared(_))
                    if self.cx.replays_handler() && !matches!(request, InputRequest::Roots(_)) =>
                {
                    self.may_park = false;
                    self.asks.push(Ask::new(&self.state, &self.cx, key, request));
                }
                Err(error) => {
                    if let Some(exchange) = &mut self.exchange {
                        exchange.answer(&key, Err(HandlerError::new(error.to_string())));
                    }
                }
            }
        }
        Ok(())
    }

    /// Passes answers of the client to the server.
    fn poll_answers(&mut self, task: &mut Context<'_>) {
        let Some(exchange) = &mut self.exchange else { return };
        self.asks.retain_mut(|ask| match ask.answer.as_mut().poll(task) {
            Poll::Ready(answer) => {
                exchange.answer(&ask.key, answer.map_err(|error| HandlerError::new(error.to_string())));
                false
            }
            Poll::Pending => true,
        });
    }
}

impl Ask {
    fn new(state: &Arc<GatewayState>, cx: &RequestContext, key: String, request: InputRequest) -> Self {
        let url = match &request {
            InputRequest::Elicit(params) => match &**params {
                ElicitParams::Url(url) => url.elicitation_id.as_deref(),
                _ => None,
            },
            _ => None,
        };
        let url = url.map(|id| state.register_url_question(id, cx));
        let (cx, name) = (cx.clone(), key.clone());
        let answer = Box::pin(async move { cx.ask_raw(&name, request).await });
        Self { key, answer, _url: url }
    }
}

impl Drop for HeldExchange {
    fn drop(&mut self) {
        let Some(exchange) = self.exchange.take() else { return };
        exchange.notices.attach(None);
        let waits_for_answer = !exchange.outstanding.is_empty();
        let permit = self.permit.take();
        if self.may_park
            && waits_for_answer
            && !self.cx.is_cancelled()
            && let Some(permit) = permit
        {
            self.state.parked.park(exchange, permit);
        }
        // Otherwise the exchange is dropped here, which cancels the upstream call.
    }
}
