//! The plain JSON-RPC endpoint over HTTP.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Method, Request, Response, StatusCode, Uri};
use http_body::Body;
use hyper::body::Incoming;
use switchboard_design::GlobError;
use switchboard_protocol::jsonrpc::{self, Envelope, MalformedMessage, Message, Version};
use switchboard_protocol::surface::{self, Peer};
use switchboard_protocol::{Raw, RequestId, RpcError};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::Extensions;
use switchboard_transport::http::server::{
    Accept, AcceptPolicy, Admission, AdmittedRequest, Endpoint, HttpServerOptions, HttpService,
    MissingScopes, ReplyBody, encode_message_event, malformed_error, message_response, status_response,
    stream_response,
};

use super::dispatcher::RpcDispatcher;
use super::event_queue::CallEventQueue;
use super::event_stream::{EventStreamBody, ResponseFuture};
use super::message;
use crate::wire::{EVENT_NOTIFICATION, EventNotification, STREAM_NOTIFICATION, StreamNotification};
use crate::{Cx, EventSink, ServiceBuilder};

/// Maximum number of calls in one batch.
pub const MAX_CALLS: usize = 100;

/// The plain JSON-RPC endpoint of a service. Cheap to clone.
///
/// Implements [`tower_service::Service`] and [`Endpoint`]: it runs alone, beside MCP with
/// [`CombinedService`](super::CombinedService), or in any router of such services.
#[derive(Clone)]
pub struct RpcService {
    inner: Arc<Inner>,
    /// Answers MCP methods at the same path.
    mcp: Option<HttpService>,
}

struct Inner {
    dispatcher: RpcDispatcher,
    admission: Admission,
}

impl RpcService {
    /// Serves a builder's service at the path of its design, `/rpc` if it has none. Session options are ignored.
    ///
    /// # Errors
    /// When an allowed or denied pattern of the builder is not a valid URI glob.
    pub fn new(builder: &ServiceBuilder, mut options: HttpServerOptions) -> Result<Self, GlobError> {
        let dispatcher = RpcDispatcher::new(&builder.clone().for_http(&options))?;
        options.path = dispatcher.design().rpc.clone().unwrap_or_else(|| "/rpc".into());
        // One endpoint for all clients: an event stream only if `Accept` names it, JSON otherwise.
        options.accept = AcceptPolicy::Named;
        Ok(Self { inner: Arc::new(Inner { dispatcher, admission: Admission::new(options) }), mcp: None })
    }

    /// Also answers MCP methods such as `initialize` and `tools/call`, with the sessions of this service. A method of
    /// the service takes precedence over an MCP method of the same name.
    #[must_use]
    pub fn with_mcp(&self, mcp: HttpService) -> Self {
        Self { inner: Arc::clone(&self.inner), mcp: Some(mcp) }
    }

    /// Returns the path of the endpoint.
    pub fn path(&self) -> &str {
        &self.inner.admission.options().path
    }

    /// Handles one request.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<ReplyBody>
    where
        B: Body<Data: Send> + Send,
    {
        self.handle_from(request, None).await
    }

    /// Handles one request from a connection of this peer address.
    pub async fn handle_from<B>(&self, request: Request<B>, peer: Option<IpAddr>) -> Response<ReplyBody>
    where
        B: Body<Data: Send> + Send,
    {
        if request.method() != Method::POST
            && let Some(mcp) = &self.mcp
        {
            // GET and DELETE: streams and session termination.
            return mcp.handle_from(at_path(request, mcp.path()), peer).await;
        }
        if request.uri().path() != self.path() {
            let document = self.inner.admission.metadata_document(&request);
            return document.unwrap_or_else(|| self.inner.admission.not_found());
        }
        let admitted = match self.inner.admission.admit(request, peer).await {
            Ok(admitted) => admitted,
            Err(rejection) => return rejection,
        };
        let accept = admitted.accept;
        let message = jsonrpc::parse(admitted.body.clone());
        if let (Some(mcp), Ok(message)) = (&self.mcp, &message)
            && self.inner.is_mcp(message, &admitted)
        {
            return mcp.answer_admitted(admitted).await;
        }
        match message {
            Ok(Message::Single(envelope)) => self.inner.single(envelope, accept, request_cx(admitted)).await,
            Ok(Message::Batch(elements)) => self.inner.batch(elements, accept, &request_cx(admitted)).await,
            Err(malformed) => {
                let (id, error) = malformed_error(&malformed);
                message_response(
                    accept,
                    StatusCode::BAD_REQUEST,
                    message::encode_response(id.as_ref(), &Err(error)),
                )
            }
        }
    }
}

/// Replaces the path of a request.
fn at_path<B>(mut request: Request<B>, path: &str) -> Request<B> {
    let mut parts = std::mem::take(request.uri_mut()).into_parts();
    parts.path_and_query = path.parse().ok();
    if let Ok(uri) = Uri::from_parts(parts) {
        *request.uri_mut() = uri;
    }
    request
}

impl Inner {
    /// Returns whether a message belongs to MCP.
    fn is_mcp(&self, message: &Message, request: &AdmittedRequest) -> bool {
        let is_mcp = |envelope: &Envelope| match envelope {
            Envelope::Request(request) => self.is_mcp_method(&request.method),
            Envelope::Notification(note) => self.is_mcp_method(&note.method),
            Envelope::Response(_) => request.head.headers.contains_key("mcp-session-id"),
        };
        match message {
            Message::Single(envelope) => is_mcp(envelope),
            Message::Batch(elements) => {
                !elements.is_empty() && elements.iter().all(|element| element.as_ref().is_ok_and(&is_mcp))
            }
        }
    }

    fn is_mcp_method(&self, method: &str) -> bool {
        surface::find(method).any(|row| row.direction.sent_by(Peer::Client)) && !self.dispatcher.has(method)
    }

    async fn single(&self, envelope: Envelope, accept: Accept, cx: Cx) -> Response<ReplyBody> {
        if let Envelope::Request(request) = &envelope
            && request.version == Version::Two
            && accept.names_events()
        {
            if self.dispatcher.streams(&request.method) {
                return self.respond_with_call_stream(cx, request);
            }
            if self.dispatcher.streams_events(&request.method) {
                return self.respond_with_event_stream(&request.id);
            }
        }
        let Some(response) = self.respond(Ok(envelope), cx).await else {
            return status_response(StatusCode::NO_CONTENT);
        };
        let mut reply = message_response(accept, StatusCode::OK, response.text);
        self.admission.challenge_scopes(&mut reply, &response.missing_scopes);
        reply
    }

    async fn batch(
        &self,
        elements: Vec<Result<Envelope, MalformedMessage>>,
        accept: Accept,
        cx: &Cx,
    ) -> Response<ReplyBody> {
        let refused = match elements.len() {
            0 => Some("the batch is empty".to_owned()),
            calls if calls > MAX_CALLS => Some(format!("a batch has at most {MAX_CALLS} calls")),
            _ => None,
        };
        if let Some(reason) = refused {
            let error = RpcError::invalid_request(reason);
            return message_response(accept, StatusCode::OK, message::encode_response(None, &Err(error)));
        }
        // Run concurrently, answered in order.
        let begin = |element| BatchCall::Running(Box::pin(self.respond(element, cx.clone())));
        let mut calls: Vec<_> = elements.into_iter().map(begin).collect();
        std::future::poll_fn(|cx| {
            let mut is_done = true;
            for call in &mut calls {
                is_done &= call.poll(cx).is_ready();
            }
            if is_done { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        let (mut texts, mut missing) = (Vec::new(), MissingScopes::default());
        for call in calls {
            match call.into_response() {
                Some(response) => {
                    texts.push(response.text);
                    missing.merge(response.missing_scopes);
                }
                // A notification.
                None => missing.add(&Ok(())),
            }
        }
        if texts.is_empty() {
            return status_response(StatusCode::NO_CONTENT);
        }
        let mut reply = message_response(accept, StatusCode::OK, message::encode_batch(&texts));
        self.admission.challenge_scopes(&mut reply, &missing);
        reply
    }

    /// Returns the response to one message; `None` for a notification.
    async fn respond(&self, message: Result<Envelope, MalformedMessage>, cx: Cx) -> Option<EncodedResponse> {
        let (id, method, params, version) = match message {
            Ok(Envelope::Request(request)) => {
                (Some(request.id), request.method, request.params, request.version)
            }
            Ok(Envelope::Notification(note)) => (None, note.method, note.params, note.version),
            Ok(Envelope::Response(response)) => {
                let error = RpcError::invalid_request("unexpected response: this endpoint sends no requests");
                return Some(EncodedResponse::new(response.id.as_ref(), &Err(error)));
            }
            Err(malformed) => {
                let (id, error) = malformed_error(&malformed);
                return Some(EncodedResponse::new(id.as_ref(), &Err(error)));
            }
        };
        if version == Version::Other {
            let error = RpcError::invalid_request("\"jsonrpc\" must be \"2.0\"");
            return Some(EncodedResponse::new(id.as_ref(), &Err(error)));
        }
        if self.dispatcher.streams_events(&method) {
            let reason =
                "this request is answered with an event stream; send it alone and accept text/event-stream";
            return id.map(|id| EncodedResponse::new(Some(&id), &Err(RpcError::invalid_request(reason))));
        }
        let outcome = self.dispatcher.call(cx, &method, params.as_ref(), EventSink::discard()).await;
        id.map(|id| EncodedResponse::new(Some(&id), &outcome))
    }

    /// Responds with an event stream: the events of a call, then its result.
    fn respond_with_call_stream(&self, cx: Cx, request: &jsonrpc::Request) -> Response<ReplyBody> {
        let options = self.admission.options();
        let queue = CallEventQueue::new(options.stream_bytes);
        let sink = sink(queue.clone(), request.id.clone());
        let outcome = self.dispatcher.call(cx, &request.method, request.params.as_ref(), sink);
        let id = request.id.clone();
        let work: ResponseFuture =
            Box::pin(async move { message::encode_response(Some(&id), &outcome.await) });
        stream_response(ReplyBody::boxed(EventStreamBody::new(queue, work, options.keep_alive)))
    }

    /// Responds with an event stream of the service's events, until the client disconnects.
    fn respond_with_event_stream(&self, id: &RequestId) -> Response<ReplyBody> {
        let options = self.admission.options();
        let queue = CallEventQueue::new(options.stream_bytes);
        let (listener, sender, request_id) = (self.dispatcher.listen(), queue.clone(), id.clone());
        let work: ResponseFuture = Box::pin(async move {
            let mut seq = 0;
            loop {
                listener.wait().await;
                while let Some((name, data, lost)) = listener.pop() {
                    seq += lost;
                    let note = EventNotification { request_id: request_id.clone(), name, seq, data, lost };
                    seq += 1;
                    sender.push(encode_message_event(
                        message::encode_notification(EVENT_NOTIFICATION, &note).as_bytes(),
                    ));
                    // Lets the event be sent first: a slow reader loses the oldest events and receives their number.
                    tokio::task::yield_now().await;
                }
            }
        });
        stream_response(ReplyBody::boxed(EventStreamBody::new(queue, work, options.keep_alive)))
    }
}

/// Returns the context of a request for its methods.
fn request_cx(request: AdmittedRequest) -> Cx {
    let mut known = Extensions::new().with(request.head);
    if let Some(caller) = request.caller {
        known.insert(Arc::unwrap_or_clone(caller));
    }
    Cx::call().extensions(known).build()
}

/// Returns the event sink of a call.
fn sink(queue: CallEventQueue, id: RequestId) -> EventSink {
    let seq = AtomicU64::new(0);
    let behind = queue.clone();
    let sink = EventSink::new(move |content| {
        if queue.is_closed() {
            return Err(switchboard_design::Error::Cancelled);
        }
        // An event that does not fit leaves a gap in the sequence numbers.
        let seq = seq.fetch_add(1, Ordering::Relaxed);
        let note = message::encode_notification(
            STREAM_NOTIFICATION,
            &StreamNotification { request_id: id.clone(), seq, content },
        );
        queue.push(encode_message_event(note.as_bytes()));
        Ok(())
    });
    sink.with_backpressure(move || behind.is_behind())
}

/// A response as it is sent, and the scopes that its caller lacks.
struct EncodedResponse {
    text: String,
    missing_scopes: MissingScopes,
}

impl EncodedResponse {
    fn new(id: Option<&RequestId>, outcome: &Result<Raw, RpcError>) -> Self {
        let mut missing_scopes = MissingScopes::default();
        missing_scopes.add(outcome);
        Self { text: message::encode_response(id, outcome), missing_scopes }
    }
}

/// One call of a batch: the future of its encoded response, or that response, which a notification does not have.
enum BatchCall<F> {
    Running(std::pin::Pin<Box<F>>),
    Done(Option<EncodedResponse>),
}

impl<F: Future<Output = Option<EncodedResponse>>> BatchCall<F> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Self::Running(work) = self {
            match work.as_mut().poll(cx) {
                Poll::Ready(answer) => *self = Self::Done(answer),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(())
    }

    fn into_response(self) -> Option<EncodedResponse> {
        match self {
            Self::Done(answer) => answer,
            Self::Running(_) => None,
        }
    }
}

impl Endpoint for RpcService {
    fn answer(
        &self,
        request: Request<Incoming>,
        peer: IpAddr,
    ) -> impl Future<Output = Response<ReplyBody>> + Send {
        self.handle_from(request, Some(peer))
    }

    fn write_stall(&self) -> Duration {
        self.inner.admission.options().write_stall
    }

    // Nothing runs between requests.
    fn shut_down(&self) {}
}

impl<B> tower_service::Service<Request<B>> for RpcService
where
    B: Body<Data: Send> + Send + 'static,
{
    type Response = Response<ReplyBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}

impl std::fmt::Debug for RpcService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RpcService").field("path", &self.path()).finish_non_exhaustive()
    }
}
