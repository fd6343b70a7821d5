//! The HTTP service: admits a request, classifies its message, and dispatches to the stateless or the stateful binding.
//!
//! One of the two places that may ask for the era of a message, because HTTP has one binding per era.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderMap, Method, Request, StatusCode};
use http_body::Body;
use switchboard_protocol::RpcError;
use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{Server, ServerSession, is_self_contained};

use crate::http::header::{PROTOCOL_VERSION, SESSION_ID};
use crate::http::server::budget::Budget;
use crate::http::server::pending_request::PendingRequest;
use crate::http::server::reply::{self, Reply};
use crate::http::server::request_checks::Rejection;
use crate::http::server::sessions::{SessionCounter, Sessions};
use crate::http::server::sse_2024::Streams;
use crate::http::server::stream_limit::{StreamLimit, StreamPermit};
use crate::http::server::{
    Accept, Admission, AdmittedRequest, HttpServerOptions, ReplyBody, stateful, stateless,
};

/// Serves a server over HTTP. Cheap to clone.
///
/// It is a [`tower_service::Service`], so it can be mounted in any tower-based framework, in axum with
/// `Router::new().route_service("/mcp", service)`; [`HttpListener`](super::HttpListener) runs it alone.
///
/// ```
/// use switchboard::server::{HttpServerOptions, HttpService};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let service = HttpService::new(&demo::server(), HttpServerOptions::default());
/// let request = http::Request::get("/somewhere-else").header("host", "localhost").body(String::new())?;
/// assert_eq!(service.handle(request).await.status(), http::StatusCode::NOT_FOUND);
/// # demo::done() });
/// ```
#[derive(Clone)]
pub struct HttpService {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) server: Arc<Server>,
    pub(crate) admission: Admission,
    pub(crate) sessions: Sessions,
    pub(crate) streams: Streams,
    /// Budget for events that wait to be read.
    pub(crate) stream_budget: Arc<Budget>,
    /// Limit on listening streams.
    pub(crate) stream_limit: StreamLimit,
    /// The placeholder session of stateless requests; they never change it.
    pub(crate) no_session: Arc<ServerSession>,
}

impl HttpService {
    /// Returns a service for this server.
    pub fn new(server: &Arc<Server>, options: HttpServerOptions) -> Self {
        let stream_budget = Budget::new(options.stream_budget);
        let sessions = Sessions::new(server, &options, &stream_budget);
        let stream_limit = StreamLimit::new(&options);
        let inner = Inner {
            server: Arc::clone(server),
            admission: Admission::new(options),
            sessions,
            streams: Streams::default(),
            stream_budget,
            stream_limit,
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
        let Some(route) = self.inner.route(request.uri().path()) else {
            let document = self.inner.admission.metadata_document(&request);
            return document.unwrap_or_else(|| self.inner.admission.not_found());
        };
        if matches!(route, Route::Streamable) && request.method() == Method::POST {
            return match self.inner.admission.admit(request, peer).await {
                Ok(admitted) => self.answer_admitted(admitted).await,
                Err(rejection) => rejection,
            };
        }
        let (parts, body) = request.into_parts();
        let mut pending = match self.inner.admission.admit_head(parts, peer).await {
            Ok(pending) => pending,
            Err(rejection) => return rejection,
        };
        reply::either(match route {
            Route::Streamable => self.inner.get_or_delete(&pending).await,
            Route::Stream2024 => self.inner.open_2024(&mut pending),
            Route::Message2024 => self.inner.post_2024(&pending, body).await,
        })
    }

    /// Returns the path of the endpoint.
    pub fn path(&self) -> &str {
        &self.inner.options().path
    }

    /// Returns a counter of the sessions, for metrics.
    pub fn session_counter(&self) -> SessionCounter {
        self.inner.sessions.counter()
    }

    /// Answers a request that was admitted, whatever its path.
    pub async fn answer_admitted(&self, admitted: AdmittedRequest) -> http::Response<ReplyBody> {
        let AdmittedRequest { head, caller, accept, body, peer } = admitted;
        let mut pending = PendingRequest { head, caller, peer };
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
    pub(crate) fn options(&self) -> &HttpServerOptions {
        self.admission.options()
    }

    fn route(&self, path: &str) -> Option<Route> {
        let options = self.options();
        match &options.legacy_sse {
            _ if path == options.path => Some(Route::Streamable),
            Some(legacy) if path == legacy.stream_path => Some(Route::Stream2024),
            Some(legacy) if path == legacy.message_path => Some(Route::Message2024),
            _ => None,
        }
    }

    /// Answers a request to the streamable endpoint that is no POST.
    async fn get_or_delete(self: &Arc<Self>, pending: &PendingRequest) -> Result<Reply, Reply> {
        match pending.head.method {
            _ if !self.server.supports_sessions() => Err(reply::not_allowed("POST")),
            Method::GET => stateful::open_stream(self, pending).await,
            Method::DELETE => stateful::end_session(self, pending).await,
            _ => Err(reply::not_allowed("GET, POST, DELETE")),
        }
    }

    async fn post(
        self: &Arc<Self>,
        pending: &mut PendingRequest,
        accept: Accept,
        frame: bytes::Bytes,
    ) -> Reply {
        let observed = self.server.is_observed().then(|| frame.clone());
        let envelope = match jsonrpc::parse(frame) {
            Ok(Message::Single(envelope)) => envelope,
            Ok(Message::Batch(elements)) => {
                return reply::either(stateful::batch(self, pending, elements).await);
            }
            Err(malformed) => {
                if let Some(frame) = observed {
                    self.server.observe_invalid(None, &frame);
                }
                let (id, error) = reply::malformed_error(&malformed);
                return reply::rpc_error(id.as_ref(), StatusCode::BAD_REQUEST, error);
            }
        };
        match envelope {
            Envelope::Request(request) if request.version == jsonrpc::Version::Other => {
                let error = RpcError::invalid_request("\"jsonrpc\" must be \"2.0\"");
                reply::rpc_error(Some(&request.id), StatusCode::BAD_REQUEST, error)
            }
            Envelope::Request(request) => match self.server.classify(&request) {
                class if class.self_contained_version().is_some() => {
                    stateless::answer(self, pending, accept, request, class).await
                }
                _ if names_stateless_revision(pending.headers()) => {
                    let error = RpcError::invalid_params(
                        "params._meta must name the protocol version and the client",
                    );
                    reply::rpc_error(Some(&request.id), StatusCode::BAD_REQUEST, error)
                }
                class => stateful::answer(self, pending, accept, request, class).await,
            },
            Envelope::Notification(note)
                if names_stateless_revision(pending.headers())
                    || !pending.headers().contains_key(SESSION_ID) =>
            {
                // Stateless requests are cancelled by closing the connection; only extensions have notifications.
                self.server.observe_notification(None, &note);
                self.server.handle_notification(None, &note);
                reply::status_response(StatusCode::ACCEPTED)
            }
            Envelope::Notification(note) => {
                reply::either(stateful::handle_notification(self, pending, note).await)
            }
            Envelope::Response(response) => {
                reply::either(stateful::handle_response(self, pending, response).await)
            }
        }
    }

    /// Admits a listening stream within the limits.
    pub(crate) fn admit_stream(&self, pending: &PendingRequest) -> Result<StreamPermit, Rejection> {
        let address = pending.client_address(self.options());
        self.stream_limit.admit(pending.client_id(self.options()), address)
    }

    /// Returns whether a request is answered with a stream even if no notification precedes the response.
    pub(crate) fn streams_at_once(&self, accept: Accept, method: &str) -> bool {
        let may = self.options().sse_when_accepted || accept.stream_tool_calls;
        (may && accept.names_events && method == "tools/call")
            || (accept.events && self.server.is_long_lived(method))
    }
}

/// Returns whether the headers name a revision without sessions.
fn names_stateless_revision(headers: &HeaderMap) -> bool {
    let version = headers.get(PROTOCOL_VERSION).and_then(|version| version.to_str().ok());
    version.is_some_and(|version| is_self_contained(version.trim()))
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
