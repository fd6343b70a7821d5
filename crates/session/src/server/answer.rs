//! Answers one request: admission, layers, built-in methods, the handler. Independent of connections.

use std::any::TypeId;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use switchboard_protocol::jsonrpc::Request;
use switchboard_protocol::surface::{Direction, MethodOrigin, RequiredCapability, Row};
use switchboard_protocol::{
    EmptyResult, FromRaw, ListenParams, Raw, RpcError, ServerCapabilities, SetLevelParams, SubscribeParams,
    surface,
};

use crate::era::serving::{Admission, RequestEra, RetryParams, ServerSession, admit, discover, initialize};
use crate::era::{ClassifiedRequest, Questions, may_require_input};
use crate::link::BoxFuture;
use crate::request::{Caller, Cancel, Reply, ReplyChannel};
use crate::server::layer::{IncomingRequest, Next, call_guarded};
use crate::server::listen::listen;
use crate::server::observed_server::ObservedRequest;
use crate::server::request_context::ContextOptions;
use crate::server::subscribe::subscribe;
use crate::server::{ConnectionId, HandlerOutcome, RequestContext, Server, ServerRequest};

/// The response to a client: an encoded result, or an error.
pub type Outcome = Result<Raw, RpcError>;

/// The answer to a request: an error, a response, or the future of one.
pub enum AnswerOutcome {
    /// Rejected before it reached the handler.
    Refused(RpcError),
    /// A response that is ready.
    Now(Outcome),
    /// A response that must be awaited. Dropping it cancels the request.
    Later(ResponseFuture),
}

impl std::fmt::Debug for AnswerOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(error) => f.debug_tuple("Refused").field(error).finish(),
            Self::Now(outcome) => f.debug_tuple("Now").field(outcome).finish(),
            Self::Later(_) => f.write_str("Later"),
        }
    }
}

/// Answers one request, which was classified before: admission, the layers around [`dispatch`], encoding.
pub(crate) fn answer(
    server: &Arc<Server>,
    session: &Arc<ServerSession>,
    request: Request,
    request_class: ClassifiedRequest,
    channel: Arc<dyn ReplyChannel>,
) -> AnswerOutcome {
    let method = &*request.method;
    let is_long_lived =
        !server.layers().is_empty() && (method == "subscriptions/listen" || server.is_long_lived(method));
    let admission = admit(server.profile(), session, method, request_class);
    let era = admission.as_ref().ok().map(|admission| admission.era.clone());
    let cancel: Arc<Cancel> = Arc::default();
    let incoming =
        IncomingRequest { request, admission, channel, cancel: Arc::clone(&cancel), is_long_lived };
    let future = match Next::outermost(server).call(incoming) {
        HandlerOutcome::Refused(error) => {
            cancel.finish();
            return AnswerOutcome::Refused(error);
        }
        HandlerOutcome::Now(reply) => {
            cancel.finish();
            let outcome = encode(server, era.as_ref(), reply);
            if cancel.has_progressed() {
                // The binding leaves time between progress and response.
                return AnswerOutcome::Later(ResponseFuture { future: Box::pin(ready(outcome)), cancel });
            }
            return AnswerOutcome::Now(outcome);
        }
        HandlerOutcome::Cached(cached) => {
            cancel.finish();
            return AnswerOutcome::Now(match &era {
                Some(era) => cached.encode(server, era),
                None => encode(server, None, Ok(cached.result().clone())),
            });
        }
        HandlerOutcome::Later(future) => future,
        blocking @ HandlerOutcome::Blocking(_) => Box::pin(blocking.into_reply()),
    };
    let server = Arc::clone(server);
    let future = Box::pin(async move { encode(&server, era.as_ref(), future.await) });
    AnswerOutcome::Later(ResponseFuture { future, cancel })
}

/// Encodes a reply for the era of its request. One that was not admitted has none: its reply is not lowered.
fn encode(server: &Server, era: Option<&RequestEra>, reply: Reply) -> Outcome {
    match era {
        Some(era) => era.encode_reply(server.profile(), reply),
        None => Raw::encode(&reply?).map_err(|error| RpcError::internal(error.to_string())),
    }
}

/// Answers a request that has passed the layers: by a built-in method or by the handler.
pub(crate) fn dispatch(server: &Arc<Server>, incoming: IncomingRequest) -> HandlerOutcome {
    let admission = match incoming.admission {
        Ok(admission) => admission,
        Err(error) => return HandlerOutcome::Refused(error),
    };
    let IncomingRequest { request, channel, cancel, .. } = incoming;
    if let Err(error) = check_method(server, &admission.era, &request.method) {
        return HandlerOutcome::Refused(admission.era.lower_error(error));
    }
    if let Some(outcome) = built_in(server, &admission.era, &request, &channel, &cancel) {
        return outcome;
    }
    call_handler(server, admission, request, channel, cancel).unwrap_or_else(HandlerOutcome::error)
}

/// Checks that the revision has the method and that the server declares the capability it needs.
fn check_method(server: &Server, era: &RequestEra, method: &str) -> Result<(), RpcError> {
    let not_found = || RpcError::method_not_found(method);
    let mut rows = surface::find(method).peekable();
    if rows.peek().is_none() {
        // Not a method of the specification: the handler may know it.
        return Ok(());
    }
    let revision = era.revision();
    let Some(Row { needs, origin, direction, .. }) = rows.find(|row| row.covers(revision)).copied() else {
        return Err(not_found());
    };
    if !direction.covers(Direction::ClientToServer) {
        return Err(not_found());
    }
    if let Some(RequiredCapability::ByServer(path) | RequiredCapability::ByReceiver(path)) = needs
        && !declares(server.capabilities(), path)
    {
        return Err(not_found());
    }
    match origin {
        MethodOrigin::Core => Ok(()),
        MethodOrigin::Extension(id) if server.capabilities().has_extension(id) => era.require_extension(id),
        _ => Err(not_found()),
    }
}

fn declares(has: &ServerCapabilities, path: &str) -> bool {
    match path {
        "tools" => has.tools.is_some(),
        "resources" => has.resources.is_some(),
        "resources.subscribe" => {
            has.resources.as_ref().is_some_and(|resources| resources.subscribe == Some(true))
        }
        "prompts" => has.prompts.is_some(),
        "completions" => has.completions.is_some(),
        "logging" => has.logging.is_some(),
        other => has.declares(other),
    }
}

/// Answers the methods that need no handler.
fn built_in(
    server: &Arc<Server>,
    era: &RequestEra,
    request: &Request,
    channel: &Arc<dyn ReplyChannel>,
    cancel: &Arc<Cancel>,
) -> Option<HandlerOutcome> {
    let (method, params) = (&*request.method, request.params.as_ref());
    let reply = match method {
        "server/discover" => Ok(discover(server.profile(), channel.caller()).into()),
        "ping" => Ok(EmptyResult::default().into()),
        "subscriptions/listen" => match decode_params::<ListenParams>(method, params) {
            Ok(params) => return Some(listen(server, era, request, params.notifications, (channel, cancel))),
            Err(error) => Err(error),
        },
        "resources/subscribe" => {
            era.session()?;
            match decode_params::<SubscribeParams>(method, params) {
                Ok(params) => return Some(subscribe(server, era, request, params, (channel, cancel))),
                Err(error) => Err(error),
            }
        }
        "initialize" | "logging/setLevel" | "resources/unsubscribe" => {
            // Only revisions with sessions have these methods.
            let session = era.session()?;
            if method == "initialize" {
                return Some(match initialize(server.profile(), session, params, channel.caller()) {
                    Ok(result) => {
                        session.start_clock(channel.extension(TypeId::of::<ConnectionId>()).is_some());
                        HandlerOutcome::now(result)
                    }
                    Err(error) => HandlerOutcome::Refused(error),
                });
            }
            update_session(session, method, params).map(|()| EmptyResult::default().into())
        }
        _ => return None,
    };
    Some(HandlerOutcome::Now(reply))
}

/// Applies a method that changes the state of a session: its log level, its subscriptions.
fn update_session(session: &ServerSession, method: &str, params: Option<&Raw>) -> Result<(), RpcError> {
    if method == "logging/setLevel" {
        let SetLevelParams { level, .. } = decode_params(method, params)?;
        session.set_log_level(level);
        return Ok(());
    }
    let SubscribeParams { uri, .. } = decode_params(method, params)?;
    session.unsubscribe(&uri);
    Ok(())
}

fn decode_params<T: FromRaw>(method: &str, params: Option<&Raw>) -> Result<T, RpcError> {
    let params = params.cloned().unwrap_or_else(Raw::empty_object);
    T::from_raw(&params)
        .map_err(|error| RpcError::invalid_params(format!("Invalid params for {method}: {error}")))
}

/// Decodes a request and calls the handler.
fn call_handler(
    server: &Arc<Server>,
    Admission { era, progress }: Admission,
    rpc_request: Request,
    channel: Arc<dyn ReplyChannel>,
    cancel: Arc<Cancel>,
) -> Result<HandlerOutcome, RpcError> {
    let request = ServerRequest::read(&rpc_request)?;
    let Request { id, method, params, .. } = rpc_request;
    let (method, text) = (&*method, params.unwrap_or_else(Raw::empty_object));
    let asks = may_require_input(method);
    let questions = if asks {
        let (responses, state) = retry_input(&request);
        let caller = state.and_then(|_| channel.caller());
        let resume = RetryParams { method, params: &text, responses, state, caller };
        era.resume_questions(server.profile(), resume)?
    } else {
        Questions::default()
    };
    let logs = server.capabilities().logging.is_some();
    let of_extension = matches!(request, ServerRequest::Other { .. });
    let options = ContextOptions {
        may_ask: asks,
        ask_within: server.limits().ask,
        logs,
        of_extension,
        publisher: server.publisher.clone(),
    };
    let cx = RequestContext::new(id, era.clone(), progress, (channel, cancel), options, questions);
    let context = cx.clone();
    match call_guarded(method, || server.handler().handle(request, cx)) {
        HandlerOutcome::Later(handler) if asks => {
            let principal = context.caller().map(Caller::principal);
            let run = era.run(server.profile(), (method, text, principal), handler, context);
            Ok(HandlerOutcome::Later(run))
        }
        outcome => Ok(outcome),
    }
}

/// Returns the answers and the state of a retry.
fn retry_input(request: &ServerRequest) -> (Option<&switchboard_protocol::InputResponses>, Option<&str>) {
    match request {
        ServerRequest::CallTool(params) => (params.input_responses.as_ref(), params.request_state.as_deref()),
        ServerRequest::GetPrompt(params) => {
            (params.input_responses.as_ref(), params.request_state.as_deref())
        }
        ServerRequest::ReadResource(params) => {
            (params.input_responses.as_ref(), params.request_state.as_deref())
        }
        _ => (None, None),
    }
}

/// The future of a response. Dropping it before it is ready cancels the request.
pub struct ResponseFuture {
    future: BoxFuture<'static, Outcome>,
    cancel: Arc<Cancel>,
}

impl ResponseFuture {
    /// Returns the cancellation flag, which the handler sees before its task is dropped.
    pub(crate) fn cancel(&self) -> Arc<Cancel> {
        Arc::clone(&self.cancel)
    }

    /// Shows the response when it is ready, or that the request was cancelled.
    pub(super) fn observed(mut self, request: ObservedRequest) -> Self {
        let future = std::mem::replace(&mut self.future, Box::pin(std::future::pending()));
        self.future = Box::pin(async move {
            let outcome = future.await;
            request.show_response(&outcome);
            outcome
        });
        self
    }
}

impl Future for ResponseFuture {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let polled = self.future.as_mut().poll(cx);
        if polled.is_ready() {
            self.cancel.finish();
        }
        polled
    }
}

impl std::fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ResponseFuture")
    }
}

impl Drop for ResponseFuture {
    fn drop(&mut self) {
        if !self.cancel.is_over() {
            self.cancel.set();
        }
    }
}
