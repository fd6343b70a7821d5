//! Answers one request: admission, built-in methods, the handler. Independent of connections.

use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use switchboard_protocol::jsonrpc::Request;
use switchboard_protocol::surface::{Direction, MethodOrigin, RequiredCapability, Row};
use switchboard_protocol::{
    EmptyResult, FromRaw, Implementation, Level, ListenParams, Raw, RequestId, RpcError, ServerCapabilities,
    SetLevelParams, SubscribeParams, surface,
};

use crate::era::serving::{Admission, RequestEra, RetryParams, ServerSession, admit, discover};
use crate::era::{ClassifiedRequest, Questions, may_require_input};
use crate::link::BoxFuture;
use crate::request::{Caller, Cancel, Reply, ReplyChannel};
use crate::server::listen::listen;
use crate::server::request_context::ContextOptions;
use crate::server::{HandlerOutcome, RequestContext, Server, ServerRequest};

/// The response to a client: an encoded result, or an error.
pub type Outcome = Result<Raw, RpcError>;

/// How a request is answered.
pub enum Answered {
    /// Rejected before it reached the handler.
    Refused(RpcError),
    /// At once.
    Now(Outcome),
    /// Asynchronously. Dropping it cancels the request.
    Later(Answering),
}

impl std::fmt::Debug for Answered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(error) => f.debug_tuple("Refused").field(error).finish(),
            Self::Now(outcome) => f.debug_tuple("Now").field(outcome).finish(),
            Self::Later(_) => f.write_str("Later"),
        }
    }
}

/// Answers one request, which was classified before.
pub(crate) fn answer(
    server: &Arc<Server>,
    session: &Arc<ServerSession>,
    request: Request,
    request_class: ClassifiedRequest,
    channel: Arc<dyn ReplyChannel>,
) -> Answered {
    let Request { id, method, params, .. } = &request;
    // The handler is notified of requests that are answered without it.
    let observe = |era: Option<&RequestEra>, error: Option<&RpcError>| {
        let request = AnsweredRequest { method, caller: channel.caller(), era, error };
        server.handler().answered(&request);
    };
    let (era, progress) = match admit(server.profile(), session, method, params.as_ref(), request_class) {
        Err(error) => {
            observe(None, Some(&error));
            return Answered::Refused(error);
        }
        Ok(Admission::Answered(reply, era)) => {
            observe(Some(&era), reply.as_ref().err());
            return Answered::Now(era.encode_reply(server.profile(), reply));
        }
        Ok(Admission::Admitted(era, progress)) => (era, progress),
    };
    if let Err(error) = check_method(server, &era, method)
        && let Err(error) = era.encode_reply(server.profile(), Err(error))
    {
        observe(Some(&era), Some(&error));
        return Answered::Refused(error);
    }
    if let Some(built_in) = built_in(server, session, &era, (id, method), params.as_ref(), &channel) {
        return match built_in {
            BuiltIn::Replied(reply) => {
                observe(Some(&era), reply.as_ref().err());
                Answered::Now(era.encode_reply(server.profile(), reply))
            }
            BuiltIn::Listening(future, cancel) => {
                observe(Some(&era), None);
                Answered::Later(Answering { future, cancel: Some(cancel) })
            }
        };
    }
    match call_handler(server, era, request, progress, channel) {
        Ok(answered) => answered,
        Err((era, error)) => Answered::Now(era.encode_reply(server.profile(), Err(error))),
    }
}

/// A request that was answered without the handler: one of the protocol itself, such as `initialize` or `ping`, or one
/// that was refused.
#[derive(Clone, Copy)]
pub struct AnsweredRequest<'a> {
    method: &'a str,
    caller: Option<&'a Caller>,
    era: Option<&'a RequestEra>,
    error: Option<&'a RpcError>,
}

impl<'a> AnsweredRequest<'a> {
    /// The method of the request.
    pub fn method(&self) -> &'a str {
        self.method
    }

    /// Returns the authenticated caller, where the binding knows it.
    pub fn caller(&self) -> Option<&'a Caller> {
        self.caller
    }

    /// Returns the client's own name and version. For display only.
    pub fn client(&self) -> Option<Implementation> {
        self.era.and_then(RequestEra::client)
    }

    /// The error it was answered with.
    pub fn error(&self) -> Option<&'a RpcError> {
        self.error
    }
}

impl fmt::Debug for AnsweredRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("AnsweredRequest");
        shown.field("method", &self.method).field("caller", &self.caller).field("error", &self.error);
        shown.finish_non_exhaustive()
    }
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
        MethodOrigin::Extension(id) if server.capabilities().has_extension(id) => era.requires_extension(id),
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

enum BuiltIn {
    Replied(Reply),
    Listening(BoxFuture<'static, Outcome>, Arc<Cancel>),
}

/// The methods that need no handler.
fn built_in(
    server: &Arc<Server>,
    session: &Arc<ServerSession>,
    era: &RequestEra,
    (id, method): (&RequestId, &str),
    params: Option<&Raw>,
    channel: &Arc<dyn ReplyChannel>,
) -> Option<BuiltIn> {
    let done =
        |outcome: Result<(), RpcError>| BuiltIn::Replied(outcome.map(|()| EmptyResult::default().into()));
    Some(match method {
        "server/discover" => BuiltIn::Replied(Ok(discover(server.profile()).into())),
        "ping" => done(Ok(())),
        "logging/setLevel" => done(decode_params(method, params).map(|SetLevelParams { level, .. }| {
            let level: Level = level;
            session.set_log_level(level);
        })),
        "resources/subscribe" => {
            done(decode_params(method, params).and_then(|SubscribeParams { uri, .. }| {
                server.may_subscribe(&uri, &**channel)?;
                session.subscribe(uri)
            }))
        }
        "resources/unsubscribe" => {
            done(decode_params(method, params).map(|SubscribeParams { uri, .. }| session.unsubscribe(&uri)))
        }
        "subscriptions/listen" => match decode_params::<ListenParams>(method, params) {
            Ok(params) => {
                let (future, cancel) = listen(server, era, id, params.notifications, channel);
                BuiltIn::Listening(future, cancel)
            }
            Err(error) => BuiltIn::Replied(Err(error)),
        },
        _ => return None,
    })
}

fn decode_params<T: FromRaw>(method: &str, params: Option<&Raw>) -> Result<T, RpcError> {
    let params = params.cloned().unwrap_or_else(Raw::empty_object);
    T::from_raw(&params)
        .map_err(|error| RpcError::invalid_params(format!("Invalid params for {method}: {error}")))
}

/// Decodes a request and calls the handler.
fn call_handler(
    server: &Arc<Server>,
    era: RequestEra,
    rpc_request: Request,
    progress: Option<RequestId>,
    channel: Arc<dyn ReplyChannel>,
) -> Result<Answered, (RequestEra, RpcError)> {
    let request = match ServerRequest::read(&rpc_request) {
        Ok(request) => request,
        Err(error) => return Err((era, error)),
    };
    let Request { id, method, params, .. } = rpc_request;
    let (method, text) = (&*method, params.unwrap_or_else(Raw::empty_object));
    let asks = may_require_input(method);
    let questions = if asks {
        let (responses, state) = retry_input(&request);
        let caller = state.and_then(|_| channel.caller());
        let resume = RetryParams { method, params: &text, responses, state, caller };
        match era.resume_questions(server.profile(), resume) {
            Ok(questions) => questions,
            Err(error) => return Err((era, error)),
        }
    } else {
        Questions::default()
    };
    let logs = server.capabilities().logging.is_some();
    let of_extension = matches!(request, ServerRequest::Other { .. });
    let options = ContextOptions { may_ask: asks, ask_within: server.limits().ask, logs, of_extension };
    let cx = RequestContext::new(id, era.clone(), progress, channel, options, questions);
    let cancel = cx.cancel();
    let context = cx.clone();
    let handled = catch_unwind(AssertUnwindSafe(|| server.handler().handle(request, cx)))
        .unwrap_or_else(|_| HandlerOutcome::Now(Err(panic_error(method))));
    let handler: BoxFuture<'static, Reply> = match handled {
        HandlerOutcome::Now(reply) => {
            cancel.finish();
            let outcome = era.encode_reply(server.profile(), reply);
            if cancel.has_progressed() {
                // The binding leaves time between progress and response.
                let future = Box::pin(std::future::ready(outcome));
                return Ok(Answered::Later(Answering { future, cancel: Some(cancel) }));
            }
            return Ok(Answered::Now(outcome));
        }
        HandlerOutcome::Cached(cached) => {
            cancel.finish();
            return Ok(Answered::Now(cached.encode(server, &era)));
        }
        HandlerOutcome::Later(future) => future,
        HandlerOutcome::Blocking(work) => {
            let method = method.to_owned();
            Box::pin(async move {
                tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(panic_error(&method)))
            })
        }
    };
    let handler: BoxFuture<'static, Reply> = Box::pin(CatchPanic { handler, method: method.to_owned() });
    let run = if asks {
        let principal = context.caller().map(Caller::principal);
        era.run(server.profile(), (method, text, principal), handler, context)
    } else {
        handler
    };
    let server = Arc::clone(server);
    let future = Box::pin(async move {
        let reply = run.await;
        era.encode_reply(server.profile(), reply)
    });
    Ok(Answered::Later(Answering { future, cancel: Some(cancel) }))
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

/// Creates the error for a panic: an incident id to find it in the log, and nothing of the panic message.
fn panic_error(method: &str) -> RpcError {
    // A random number without a generator: each `RandomState` has its own keys.
    let incident = format!("{:016x}", std::hash::RandomState::new().build_hasher().finish());
    tracing::error!(method, incident, "a handler panicked");
    RpcError::internal(format!("Internal error: the request could not be handled (incident {incident})"))
}

/// Catches a panic of a handler, so that it fails only its own request.
struct CatchPanic {
    handler: BoxFuture<'static, Reply>,
    method: String,
}

impl Future for CatchPanic {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        let handler = &mut self.handler;
        match catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(cx))) {
            Ok(polled) => polled,
            Err(_) => Poll::Ready(Err(panic_error(&self.method))),
        }
    }
}

/// A request being answered. Dropping it before its end cancels it.
pub struct Answering {
    future: BoxFuture<'static, Outcome>,
    cancel: Option<Arc<Cancel>>,
}

impl Answering {
    /// Returns the cancellation flag, which the handler sees before its task is dropped.
    pub(crate) fn cancel(&self) -> Option<Arc<Cancel>> {
        self.cancel.clone()
    }
}

impl Future for Answering {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let polled = self.future.as_mut().poll(cx);
        if polled.is_ready()
            && let Some(cancel) = self.cancel.take()
        {
            cancel.finish();
        }
        polled
    }
}

impl std::fmt::Debug for Answering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Answering")
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        if let Some(cancel) = self.cancel.take() {
            cancel.set();
        }
    }
}
