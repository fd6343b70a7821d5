//! An exchange while a request of its client is open: polls the upstream call, asks the client, passes answers on.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use switchboard_protocol::{ElicitParams, InputRequest, Meta, OrderedMap, Raw, RpcError};
use switchboard_session::client::HandlerError;
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{AskError, RequestContext};
use tokio::time::Sleep;

use crate::exchange::{Exchange, UpstreamResult};
use crate::parked::{ParkedCaller, ParkedPermit};
use crate::state::GatewayState;
use crate::url_questions::UrlQuestionGuard;

/// How long a question waits for others of the same call, so that a client that retries answers them together.
const GATHER: Duration = Duration::from_millis(25);

/// An exchange while a request of its client is open. Dropping it parks or cancels the upstream call.
pub(crate) struct HeldExchange {
    /// `None` when it is over.
    exchange: Option<Exchange>,
    /// Questions that the client is being asked.
    asks: Vec<Ask>,
    /// Room in the table, reserved before the first question.
    permit: Option<ParkedPermit>,
    may_park: bool,
    /// Runs while new questions wait for others.
    gather: Option<Pin<Box<Sleep>>>,
    keep_alive: Option<Pin<Box<Sleep>>>,
    /// The exposed id of the task whose questions these are; they are sent as requests that name it.
    related_task: Option<String>,
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
    pub(crate) fn new(
        state: Arc<GatewayState>,
        cx: RequestContext,
        exchange: Exchange,
        permit: Option<ParkedPermit>,
    ) -> Self {
        exchange.notices.attach(Some(cx.clone()));
        let may_park = cx.replays_handler() && !exchange.id.is_empty();
        let keep_alive = cx.wants_progress().then(|| Box::pin(tokio::time::sleep(state.options.keep_alive)));
        Self {
            exchange: Some(exchange),
            asks: Vec::new(),
            permit,
            may_park,
            gather: None,
            keep_alive,
            related_task: None,
            cx,
            state,
        }
    }

    /// Sets the task whose questions these are.
    pub(crate) fn with_related_task(mut self, task: Option<String>) -> Self {
        self.related_task = task;
        self
    }

    /// Waits for the result.
    pub(crate) async fn result(mut self) -> Result<UpstreamResult, RpcError> {
        // Questions of an earlier round are asked at once: their answers are here.
        self.ask_new_questions()?;
        poll_fn(|task| self.poll(task)).await
    }

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
        let (server, session) = (Arc::clone(&exchange.server), exchange.run.last_session());
        let is_new = |key: &str| self.asks.iter().all(|ask| ask.key != key);
        let new = exchange.outstanding.iter().filter(|question| is_new(&question.key));
        let new: Vec<_> = new.map(|question| (question.key.clone(), question.request.clone())).collect();
        for (key, request) in new {
            let checked = match &self.related_task {
                Some(_) => self.cx.check_answerable(&request),
                None => self.cx.check_question(&request),
            };
            match checked {
                Ok(()) => {
                    if self.may_park && self.permit.is_none() {
                        let caller = ParkedCaller::of(&self.cx);
                        self.permit = Some(self.state.parked.reserve(caller, &server)?);
                    }
                    self.ask(key, (&server, session), request);
                }
                // The request fails with the capability that its client lacks; the call has no use then.
                // Roots are no question to a user: servers that ask for them, as some do before their first call, go on
                // without.
                Err(AskError::Undeclared(_))
                    if self.cx.replays_handler() && !matches!(request, InputRequest::Roots(_)) =>
                {
                    self.may_park = false;
                    self.ask(key, (&server, session), request);
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

    fn ask(&mut self, key: String, asker: (&Arc<str>, Option<u64>), request: InputRequest) {
        let question = (request, self.related_task.as_deref());
        self.asks.push(Ask::new((&self.state, asker), &self.cx, key, question));
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
    fn new(
        (state, (server, session)): (&GatewayState, (&Arc<str>, Option<u64>)),
        cx: &RequestContext,
        key: String,
        (request, related_task): (InputRequest, Option<&str>),
    ) -> Self {
        let url = match &request {
            InputRequest::Elicit(params) => match &**params {
                ElicitParams::Url(url) => url.elicitation_id.as_deref(),
                _ => None,
            },
            _ => None,
        };
        let url = url.zip(session);
        let url = url.map(|(id, session)| state.url_questions.register((server, session, id), cx));
        let (cx, name) = (cx.clone(), key.clone());
        let answer: BoxFuture<'static, Result<Raw, AskError>> = match related_task {
            None => Box::pin(async move { cx.ask_raw(&name, request).await }),
            Some(task) => {
                let params = params_of_task(&request, task);
                Box::pin(async move { cx.request(request.method(), &params?).await })
            }
        };
        Self { key, answer, _url: url }
    }
}

/// Returns the parameters of a question with the id of its task in `_meta`.
fn params_of_task(request: &InputRequest, task: &str) -> Result<Raw, AskError> {
    #[derive(serde::Deserialize)]
    struct EncodedQuestion {
        #[serde(default)]
        params: OrderedMap<Raw>,
    }
    let invalid = |error: &dyn std::fmt::Display| AskError::Invalid(error.to_string());
    let encoded = Raw::encode(request).map_err(|error| invalid(&error))?;
    let EncodedQuestion { mut params } = encoded.decode().map_err(|error| invalid(&error))?;
    let mut meta: Meta = match params.get("_meta") {
        Some(meta) => meta.decode().map_err(|error| invalid(&error))?,
        None => Meta::new(),
    };
    meta.insert(Meta::RELATED_TASK, Raw::from(serde_json::json!({ "taskId": task })));
    params.insert("_meta", Raw::encode(&meta).map_err(|error| invalid(&error))?);
    Raw::encode(&params).map_err(|error| invalid(&error))
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
