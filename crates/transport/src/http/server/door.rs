//! The door: guard, classify, then to whoever serves that kind of message.
//!
//! One of the two places that may ask what the era seam says, because HTTP honestly is two bindings.

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
use crate::http::server::guard::{self, Known, Turned};
use crate::http::server::options::HttpOptions;
use crate::http::server::reply::{self, Reply};
use crate::http::server::sessions::Sessions;
use crate::http::server::sse_2024::Streams;
use crate::http::server::stream_limit::{StreamLimit, StreamPermit};
use crate::http::server::visitor::Visitor;
use crate::http::server::{stateful, stateless};

/// A server as a service over HTTP. Cheap to clone.
///
/// It is a [`tower_service::Service`], so it mounts where such services do, in axum with
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
    /// What waits to be read on event streams is counted here.
    pub(crate) stream_budget: Arc<Budget>,
    /// Streams that only listen are counted here.
    pub(crate) stream_limit: StreamLimit,
    /// The host that was last found good.
    pub(crate) known_host: Known,
    /// The version that was last found to be served.
    pub(crate) known_version: Known,
    /// The version that was last found to have sessions.
    known_session: Known,
    /// What requests that stand alone are given for a session; none of them touches it.
    pub(crate) no_session: Arc<ServerSession>,
}

impl HttpService {
    /// Serves this server.
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
            known_host: Known::default(),
            known_version: Known::default(),
            known_session: Known::default(),
            no_session: Arc::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Answers one request. Its client is known by the [`PeerAddress`](super::PeerAddress) among the extensions of the
    /// request, if a layer has put one there.
    pub async fn handle<B>(&self, request: Request<B>) -> http::Response<ReplyBody>
    where
        B: Body<Data: Send> + Send,
    {
        self.handle_from(request, None).await
    }

    /// Answers one request that came on a connection from this address.
    pub async fn handle_from<B>(&self, request: Request<B>, peer: Option<IpAddr>) -> http::Response<ReplyBody>
    where
        B: Body<Data: Send> + Send,
    {
        let (parts, body) = request.into_parts();
        let mut visitor = Visitor { parts, caller: None, peer };
        let endpoint = match self.inner.admit(&visitor.parts.uri, visitor.headers()) {
            Ok(endpoint) => endpoint,
            Err(refused) => return reply::turned(refused),
        };
        if let Some(authenticate) = &self.inner.options.authenticate {
            match authenticate.authenticate(&visitor.parts).await {
                Ok(caller) => visitor.caller = caller,
                Err(refused) => return refused.reply(self.inner.options.resource_metadata.as_deref()),
            }
            // It was for this server.
            visitor.parts.headers.remove(http::header::AUTHORIZATION);
        }
        match endpoint {
            Endpoint::Streamable => self.inner.streamable(&mut visitor, body).await,
            Endpoint::Stream2024 => self.inner.open_2024(&mut visitor),
            Endpoint::Message2024 => self.inner.post_2024(&visitor, body).await,
        }
    }

    /// The path of the endpoint.
    pub fn path(&self) -> &str {
        &self.inner.options.path
    }

    /// Answers a post that an [`Entry`](super::Entry) has let in, at whatever path that is.
    pub async fn answer_posted(&self, posted: Posted) -> http::Response<ReplyBody> {
        let Posted { head, caller, body, accept, peer, .. } = posted;
        let (mut parts, ()) = Request::new(()).into_parts();
        (parts.method, parts.uri) = (head.method, head.uri);
        (parts.headers, parts.extensions) = (head.headers, head.extensions);
        let mut visitor = Visitor { parts, caller, peer };
        self.inner.post(&mut visitor, accept, body).await
    }

    /// Ends every session and stream, in order.
    pub fn shut_down(&self) {
        self.inner.server.publisher().end_subscriptions();
        self.inner.sessions.end_all();
        self.inner.streams.end_all();
    }
}

/// What a path leads to.
enum Endpoint {
    Streamable,
    Stream2024,
    Message2024,
}

impl Inner {
    fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Result<Endpoint, Turned> {
        let endpoint = match (&self.options.legacy_sse, uri.path()) {
            (_, path) if path == self.options.path => Endpoint::Streamable,
            (Some(legacy), path) if path == legacy.stream_path => Endpoint::Stream2024,
            (Some(legacy), path) if path == legacy.message_path => Endpoint::Message2024,
            _ => {
                return Err(Turned::new(
                    StatusCode::NOT_FOUND,
                    format!("the endpoint is {}", self.options.path),
                ));
            }
        };
        guard::check_origin(&self.options, &self.known_host, uri, headers)?;
        Ok(endpoint)
    }

    async fn streamable<B>(self: &Arc<Self>, visitor: &mut Visitor, body: B) -> Reply
    where
        B: Body<Data: Send> + Send,
    {
        if visitor.parts.method != Method::POST {
            return match visitor.parts.method {
                _ if !self.server.keeps_sessions() => reply::not_allowed("POST"),
                Method::GET => stateful::listen(self, visitor).await,
                Method::DELETE => stateful::leave(self, visitor).await,
                _ => reply::not_allowed("GET, POST, DELETE"),
            };
        }
        let accept = Accept::read(visitor.headers()).under(self.options.accept);
        if accept.is_nothing() {
            let reason = "accept application/json or text/event-stream";
            return reply::turned(Turned::new(StatusCode::NOT_ACCEPTABLE, reason));
        }
        if let Err(refused) = guard::check_type(visitor.headers()) {
            return reply::turned(refused);
        }
        match guard::read_body(&self.options, visitor.headers(), body).await {
            Ok(frame) => self.post(visitor, accept, frame).await,
            Err(refused) => reply::turned(refused),
        }
    }

    async fn post(self: &Arc<Self>, visitor: &mut Visitor, accept: Accept, frame: bytes::Bytes) -> Reply {
        let envelope = match jsonrpc::parse(frame) {
            Ok(Message::Single(envelope)) => envelope,
            Ok(Message::Batch(elements)) => return stateful::batch(self, visitor, elements).await,
            Err(malformed) => {
                let code =
                    if malformed.is_json() { ErrorCode::INVALID_REQUEST } else { ErrorCode::PARSE_ERROR };
                let id = malformed.salvaged.id.clone().filter(|_| malformed.is_json());
                let error = RpcError::new(code, malformed.to_string());
                return reply::refusal(id.as_ref(), StatusCode::BAD_REQUEST, error);
            }
        };
        match envelope {
            Envelope::Request(request) if request.version == jsonrpc::Version::Other => {
                let error = RpcError::invalid_request("\"jsonrpc\" must be \"2.0\"");
                reply::refusal(Some(&request.id), StatusCode::BAD_REQUEST, error)
            }
            Envelope::Request(request) => match self.server.classify(&request) {
                says if says.alone().is_some() => {
                    stateless::answer(self, visitor, accept, request, says).await
                }
                _ if self.is_alone(visitor.headers()) => {
                    let error = RpcError::invalid_params(
                        "params._meta must name the protocol version and the client",
                    );
                    reply::refusal(Some(&request.id), StatusCode::BAD_REQUEST, error)
                }
                says => stateful::answer(self, visitor, accept, request, says).await,
            },
            ref envelope @ Envelope::Notification(_)
                if self.is_alone(visitor.headers()) || !visitor.headers().contains_key(SESSION_ID) =>
            {
                // Requests that stand alone are cancelled by hanging up; only extensions have more to say.
                if let Envelope::Notification(note) = &envelope {
                    self.server.hear(note);
                }
                reply::bare(StatusCode::ACCEPTED)
            }
            Envelope::Notification(note) => stateful::hear(self, visitor, note).await,
            Envelope::Response(response) => stateful::answered(self, visitor, response).await,
        }
    }

    /// Admits a stream that only listens, if there are not too many.
    pub(crate) fn admit_stream(&self, visitor: &Visitor) -> Result<StreamPermit, Turned> {
        let address = visitor.address(&self.options);
        self.stream_limit.admit(visitor.client(&self.options), address)
    }

    /// Whether a request is answered by a stream even when it has nothing to say before its end.
    pub(crate) fn streams_at_once(&self, accept: Accept, method: &str) -> bool {
        let may = self.options.sse_when_accepted || accept.at_once;
        (may && accept.names_events && method == "tools/call")
            || (accept.events && self.server.is_long_lived(method))
    }

    /// Whether the headers speak of a revision in which requests stand alone.
    fn is_alone(&self, headers: &HeaderMap) -> bool {
        let Some(version) = headers.get(PROTOCOL_VERSION) else { return false };
        if self.known_session.is(version) {
            return false;
        }
        let is_alone = version.to_str().is_ok_and(|version| stands_alone(version.trim()));
        if !is_alone {
            self.known_session.keep(version);
        }
        is_alone
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
