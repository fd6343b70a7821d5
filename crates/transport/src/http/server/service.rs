//! The HTTP service: checks a request, classifies its message, and dispatches to the stateless or the stateful binding.
//!
//! One of the two places that may ask for the era of a message, because HTTP has one binding per era.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body::Body;
use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_protocol::{ErrorCode, RpcError};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{Server, ServerSession, stands_alone};

use crate::http::header::{PROTOCOL_VERSION, SESSION_ID};
use crate::http::server::accept::Accept;
use crate::http::server::body::ReplyBody;
use crate::http::server::budget::Budget;
use crate::http::server::entry::Posted;
use crate::http::server::options::HttpOptions;
use crate::http::server::pending_request::PendingRequest;
use crate::http::server::reply::{self, Reply};
use crate::http::server::request_checks::{self, LastAccepted, Rejection};
use crate::http::server::sessions::Sessions;
use crate::http::server::sse_2024::Streams;
use crate::http::server::stream_limit::{StreamLimit, StreamPermit};
use crate::http::server::{stateful, stateless};

/// Serves a server over HTTP. Cheap to clone.
///
/// It is a [`tower_service::Service`], so it can be mounted in any tower-based framework, in axum with
/// `Router::new().route_service("/mcp", service)`; [`HttpListener`](super::HttpListener) runs it alone.
#[derive(Clone)]
pub struct HttpService {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) server: Arc<Server>,
    pub(crate) options: HttpOptions,
    pub(crate) sessions: Sessions,
    pub(crate) streams: Streams,
    /// Budget for events that wait to be read.
    pub(crate) stream_budget: Arc<Budget>,
    /// Limit on listening streams.
    pub(crate) stream_limit: StreamLimit,
    /// The last host that passed the check.
    pub(crate) last_host: LastAccepted,
    /// The last supported protocol version.
    pub(crate) last_version: LastAccepted,
    /// The last protocol version with sessions.
    last_session_version: LastAccepted,
    /// The placeholder session of stateless requests; they never change it.
    pub(crate) no_session: Arc<ServerSession>,
}

impl HttpService {
    /// Returns a service for this server.
    pub fn new(server: &Arc<Server>, options: HttpOptions) -> Self {
        let stream_budget = Budget::new(options.stream_budget);
        let sessions = Sessions::new(server, &options, &stream_budget);
        let stream_limit = StreamLimit::new(&options);
        let inner = Inner {
            server: Arc::clone(server),
            options,
            sessions,
            streams: Streams::default(),
            stream_budget,
            stream_limit,
            last_host: LastAccepted::default(),
            last_version: LastAccepted::default(),
            last_session_version: LastAccepted::default(),
            no_session: Arc::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Answers one request. The client address is the [`PeerAddress`](super::PeerAddress) extension, if a layer has added
    /// it.
    pub async fn handle<B>(&self, request: Request<B>) -> http::Response<ReplyBody>
    where
        B: Body<Data: Send> + Send,
    {
        self.handle_from(request, None).await
    }

    /// Answers one request from this peer address.
    pub async fn handle_from<B>(&self, request: Request<B>, peer: Option<IpAddr>) -> http::Response<ReplyBody>
    where
        B: Body<Data: Send> + Send,
    {
        let (parts, body) = request.into_parts();
        let mut pending = PendingRequest { parts, caller: None, peer };
        let route = match self.inner.admit(&pending.parts.uri, pending.headers()) {
            Ok(route) => route,
            Err(rejection) => return reply::rejected(rejection),
        };
        if let Some(authenticate) = &self.inner.options.authenticate {
            match authenticate.authenticate(&pending.parts).await {
                Ok(caller) => pending.caller = caller,
                Err(rejection) => return rejection.reply(self.inner.options.resource_metadata.as_deref()),
            }
            // The credentials are for this server only.
            pending.parts.headers.remove(http::header::AUTHORIZATION);
        }
        match route {
            Route::Streamable => self.inner.streamable(&mut pending, body).await,
            Route::Stream2024 => self.inner.open_2024(&mut pending),
            Route::Message2024 => self.inner.post_2024(&pending, body).await,
        }
    }

    /// Returns the path of the endpoint.
    pub fn path(&self) -> &str {
        &self.inner.options.path
    }

    /// Answers a post that an [`Entry`](super::Entry) has admitted, whatever its path.
    pub async fn answer_posted(&self, posted: Posted) -> http::Response<ReplyBody> {
        let Posted { head, caller, body, accept, peer, .. } = posted;
        let (mut parts, ()) = Request::new(()).into_parts();
        (parts.method, parts.uri) = (head.method, head.uri);
        (parts.headers, parts.extensions) = (head.headers, head.extensions);
        let mut pending = PendingRequest { parts, caller, peer };
        self.inner.post(&mut pending, accept, body).await
    }

    /// Ends every session and stream gracefully.
    pub fn shut_down(&self) {
        self.inner.server.publisher().end_subscriptions();
        self.inner.sessions.end_all();
        self.inner.streams.end_all();
    }
}

/// The handler that a path is routed to.
enum Route {
    Streamable,
    Stream2024,
    Message2024,
}

impl Inner {
    fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<Route, Rejection> {
        let route = match (&self.options.legacy_sse, uri.path()) {
            (_, path) if path == self.options.path => Route::Streamable,
            (Some(legacy), path) if path == legacy.stream_path => Route::Stream2024,
            (Some(legacy), path) if path == legacy.message_path => Route::Message2024,
            _ => {
                return Err(Rejection::new(
                    StatusCode::NOT_FOUND,
                    format!("the endpoint is {}", self.options.path),
                ));
            }
        };
        request_checks::check_origin(&self.options, &self.last_host, uri, headers)?;
        Ok(route)
    }

    async fn streamable<B>(self: &Arc<Self>, pending: &mut PendingRequest, body: B) -> Reply
    where
        B: Body<Data: Send> + Send,
    {
        if pending.parts.method != Method::POST {
            return match pending.parts.method {
                _ if !self.server.keeps_sessions() => reply::not_allowed("POST"),
                Method::GET => stateful::open_stream(self, pending).await,
                Method::DELETE => stateful::end_session(self, pending).await,
                _ => reply::not_allowed("GET, POST, DELETE"),
            };
        }
        let accept = Accept::read(pending.headers()).with_policy(self.options.accept);
        if accept.accepts_nothing() {
            let reason = "accept application/json or text/event-stream";
            return reply::rejected(Rejection::new(StatusCode::NOT_ACCEPTABLE, reason));
        }
        if let Err(rejection) = request_checks::check_type(pending.headers()) {
            return reply::rejected(rejection);
        }
        match request_checks::read_body(&self.options, pending.headers(), body).await {
            Ok(frame) => self.post(pending, accept, frame).await,
            Err(rejection) => reply::rejected(rejection),
        }
    }

    async fn post(
        self: &Arc<Self>,
        pending: &mut PendingRequest,
        accept: Accept,
        frame: bytes::Bytes,
    ) -> Reply {
        let envelope = match jsonrpc::parse(frame) {
            Ok(Message::Single(envelope)) => envelope,
            Ok(Message::Batch(elements)) => return stateful::batch(self, pending, elements).await,
            Err(malformed) => {
                let code =
                    if malformed.is_json() { ErrorCode::INVALID_REQUEST } else { ErrorCode::PARSE_ERROR };
                let id = malformed.recovered.id.clone().filter(|_| malformed.is_json());
                let error = RpcError::new(code, malformed.to_string());
                return reply::rpc_error(id.as_ref(), StatusCode::BAD_REQUEST, error);
            }
        };
        match envelope {
            Envelope::Request(request) if request.version == jsonrpc::Version::Other => {
                let error = RpcError::invalid_request("\"jsonrpc\" must be \"2.0\"");
                reply::rpc_error(Some(&request.id), StatusCode::BAD_REQUEST, error)
            }
            Envelope::Request(request) => match self.server.classify(&request) {
                class if class.alone().is_some() => {
                    stateless::answer(self, pending, accept, request, class).await
                }
                _ if self.names_stateless_revision(pending.headers()) => {
                    let error = RpcError::invalid_params(
                        "params._meta must name the protocol version and the client",
                    );
                    reply::rpc_error(Some(&request.id), StatusCode::BAD_REQUEST, error)
                }
                class => stateful::answer(self, pending, accept, request, class).await,
            },
            ref envelope @ Envelope::Notification(_)
                if self.names_stateless_revision(pending.headers())
                    || !pending.headers().contains_key(SESSION_ID) =>
            {
                // Stateless requests are cancelled by closing the connection; only extensions have notifications.
                if let Envelope::Notification(note) = &envelope {
                    self.server.hear(note);
                }
                reply::status_only(StatusCode::ACCEPTED)
            }
            Envelope::Notification(note) => stateful::handle_notification(self, pending, note).await,
            Envelope::Response(response) => stateful::handle_response(self, pending, response).await,
        }
    }

    /// Admits a listening stream within the limits.
    pub(crate) fn admit_stream(&self, pending: &PendingRequest) -> Result<StreamPermit, Rejection> {
        let address = pending.client_address(&self.options);
        self.stream_limit.admit(pending.client_id(&self.options), address)
    }

    /// Returns whether a request is answered with a stream even if no notification precedes the response.
    pub(crate) fn streams_at_once(&self, accept: Accept, method: &str) -> bool {
        let may = self.options.sse_when_accepted || accept.stream_tool_calls;
        (may && accept.names_events && method == "tools/call")
            || (accept.events && self.server.is_long_lived(method))
    }

    /// Returns whether the headers name a revision without sessions.
    fn names_stateless_revision(&self, headers: &HeaderMap) -> bool {
        let Some(version) = headers.get(PROTOCOL_VERSION) else { return false };
        if self.last_session_version.matches(version) {
            return false;
        }
        let names_stateless_revision = version.to_str().is_ok_and(|version| stands_alone(version.trim()));
        if !names_stateless_revision {
            self.last_session_version.store(version);
        }
        names_stateless_revision
    }
}

impl<B> tower_service::Service<Request<B>> for HttpService
where
    B: Body<Data: Send> + Send + 'static,
{
    type Response = http::Response<ReplyBody>;
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

impl std::fmt::Debug for HttpService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpService").field("server", &self.inner.server).finish_non_exhaustive()
    }
}
