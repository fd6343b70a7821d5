//! The endpoint of a console, for a listener.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use flate2::Compression;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, VARY};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use serde::{Deserialize, Serialize};
use switchboard_transport::http::server::{Endpoint, ReplyBody};
use tokio::sync::Semaphore;

use super::access_keys::AccessKeys;
use super::assets::asset;
use super::attempt_limit::AttemptLimit;
use super::compression::{self, accepts_gzip, gzip};
use super::event_stream::{EventStreams, last_event_id, stream_reply};
use super::origin_check::OriginCheck;
use super::reply::{Reply, error_reply, method_not_allowed, reply, with_security_headers, without_body};
use super::request_body::{TOKEN_BYTES, check_content_type, max_bytes, read_body};
use super::router::{RouteMatch, Router};
use crate::api::{ApiRequest, ApiResponse, ApiRoute, BodyKind, ConsoleState, RouteAccess};
use crate::contract::ApiError;

/// How long a handler may take. Long work goes on after its response and is reported by events.
const HANDLER: Duration = Duration::from_secs(120);
/// How long a client may read nothing of a response.
const WRITE_STALL: Duration = Duration::from_secs(30);
/// Recordings that are read at a time.
const RECORDINGS: usize = 2;

/// The endpoint of a console.
#[derive(Clone, Debug)]
pub(crate) struct ConsoleEndpoint(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Arc<ConsoleState>,
    keys: Arc<AccessKeys>,
    origin: OriginCheck,
    router: Router,
    attempts: AttemptLimit,
    streams: EventStreams,
    recordings: Semaphore,
}

#[derive(Deserialize)]
struct TokenBody {
    token: String,
}

#[derive(Serialize)]
struct CreatedToken {
    token: String,
}

#[derive(Serialize)]
struct CreatedKey {
    key: String,
}

impl ConsoleEndpoint {
    /// Creates the endpoint of a console on this port.
    pub(crate) fn new(
        state: Arc<ConsoleState>,
        routes: Vec<ApiRoute>,
        keys: Arc<AccessKeys>,
        port: u16,
    ) -> Self {
        Self(Arc::new(Shared {
            state,
            keys,
            origin: OriginCheck::new(port),
            router: Router::new(routes),
            attempts: AttemptLimit::default(),
            streams: EventStreams::new(),
            recordings: Semaphore::new(RECORDINGS),
        }))
    }
}

impl Shared {
    async fn respond(&self, request: Request<Incoming>) -> Result<Reply, ApiError> {
        self.origin.check(&request)?;
        let path = request.uri().path();
        if path != "/api" && !path.starts_with("/api/") {
            return respond_with_asset(&request);
        }
        if path == "/api/key" {
            return match *request.method() {
                Method::POST => self.exchange_token(request).await,
                ref method => Ok(method_not_allowed(method, "POST")),
            };
        }
        let key = self.authenticate(request.headers())?;
        match (path, request.method()) {
            ("/api/token", &Method::POST) => {
                check_content_type(request.headers(), BodyKind::Json)?;
                let token =
                    self.keys.create_token(Instant::now()).map_err(|error| no_random_numbers(&error))?;
                api_reply(ApiResponse::ok(&CreatedToken { token })?, request.headers()).await
            }
            ("/api/token", method) => Ok(method_not_allowed(method, "POST")),
            ("/api/events", &Method::GET) => {
                let reader = self.state.events.reader(last_event_id(request.headers())?);
                self.streams.open(reader, Arc::clone(&self.keys), key)
            }
            ("/api/events", &Method::HEAD) => Ok(stream_reply(ReplyBody::empty())),
            ("/api/events", method) => Ok(method_not_allowed(method, "GET, HEAD")),
            _ => self.run_handler(request).await,
        }
    }

    async fn exchange_token(&self, request: Request<Incoming>) -> Result<Reply, ApiError> {
        check_content_type(request.headers(), BodyKind::Json)?;
        let (head, body) = request.into_parts();
        let body = read_body(&head.headers, body, TOKEN_BYTES).await?;
        let TokenBody { token } = ApiRequest::new(Vec::new(), Vec::new(), body).json()?;
        let exchanged = self.keys.exchange(&token, Instant::now());
        let Some(key) = exchanged.map_err(|error| no_random_numbers(&error))? else {
            return Err(self.failed_attempt(
                ApiError::new(
                    StatusCode::UNAUTHORIZED,
                    "token_invalid",
                    "the link was used already, or is too old",
                )
                .with_next_step("Open the console again: a link works once, for a minute."),
            ));
        };
        api_reply(ApiResponse::ok(&CreatedKey { key })?, &head.headers).await
    }

    /// Returns the key of a request, if it is valid.
    fn authenticate(&self, headers: &HeaderMap) -> Result<String, ApiError> {
        let mut values = headers.get_all(AUTHORIZATION).into_iter();
        let value = values.next().filter(|_| values.next().is_none()).and_then(|value| value.to_str().ok());
        let bearer = value.and_then(|value| value.split_once(' '));
        let key =
            bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, key)| key.trim());
        match key.filter(|key| self.keys.admit(key, Instant::now())) {
            Some(key) => Ok(key.to_owned()),
            None => Err(self.failed_attempt(
                ApiError::new(StatusCode::UNAUTHORIZED, "key_expired", "the request has no valid key")
                    .with_next_step("Open the console again, with a new link."),
            )),
        }
    }

    /// Counts a failed attempt, and returns the error for it.
    fn failed_attempt(&self, error: ApiError) -> ApiError {
        if self.attempts.count_failure(Instant::now()) {
            return error;
        }
        let message = "too many requests had no valid token or key";
        ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_attempts", message)
            .with_next_step("Wait ten seconds, and use the link that the console printed.")
    }

    async fn run_handler(&self, request: Request<Incoming>) -> Result<Reply, ApiError> {
        let (head, body) = request.into_parts();
        let (route, parameters) = match self.router.find(&head.method, head.uri.path()) {
            RouteMatch::Found { route, parameters } => (route, parameters),
            RouteMatch::OtherMethods(allowed) => return Ok(method_not_allowed(&head.method, &allowed)),
            RouteMatch::None => return Err(unknown_path(head.uri.path())),
        };
        if route.access == RouteAccess::Write && self.state.settings.read_only {
            return Err(ApiError::new(StatusCode::FORBIDDEN, "read_only", "this console changes nothing")
                .with_next_step("Use the command line or the configuration of the gateway."));
        }
        let _recording = match route.body {
            BodyKind::Recording => Some(self.recordings.try_acquire().map_err(|_| {
                let message = format!("{RECORDINGS} recordings are opened already");
                ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_recordings", message)
                    .with_next_step("Try again when they are open.")
            })?),
            BodyKind::Json => None,
        };
        let body = if route.method == Method::GET {
            Bytes::new()
        } else {
            check_content_type(&head.headers, route.body)?;
            read_body(&head.headers, body, max_bytes(route.body)).await?
        };
        let query = form_urlencoded::parse(head.uri.query().unwrap_or_default().as_bytes());
        let request = ApiRequest::new(parameters, query.into_owned().collect(), body);
        let handler = route.handle(Arc::clone(&self.state), request);
        let response = tokio::time::timeout(HANDLER, handler).await.unwrap_or_else(|_| {
            let message = format!("the request was not answered within {} s", HANDLER.as_secs());
            Err(ApiError::new(StatusCode::GATEWAY_TIMEOUT, "timeout", message))
        });
        // It may have the words of a server.
        let response =
            response.map_err(|error| ApiError { message: self.state.mask(error.message), ..error })?;
        api_reply(response, &head.headers).await
    }
}

fn respond_with_asset<B>(request: &Request<B>) -> Result<Reply, ApiError> {
    let path = request.uri().path();
    let found = asset(path, request.headers()).ok_or_else(|| unknown_path(path))?;
    match *request.method() {
        Method::GET | Method::HEAD => Ok(found),
        ref method => Ok(method_not_allowed(method, "GET, HEAD")),
    }
}

fn unknown_path(path: &str) -> ApiError {
    ApiError::not_found("not_found", format!("the console has nothing at `{path}`"))
}

fn no_random_numbers(error: &getrandom::Error) -> ApiError {
    let message = format!("the system has no random numbers: {error}");
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
}

/// Returns the response of a handler, compressed if it is large JSON and the client accepts that.
async fn api_reply(response: ApiResponse, headers: &HeaderMap) -> Result<Reply, ApiError> {
    let ApiResponse { status, content_type, body } = response;
    let is_compressible = content_type == "application/json" && body.len() >= compression::MIN_BYTES;
    if !is_compressible || !accepts_gzip(headers) {
        return Ok(reply(status, content_type, ReplyBody::full(body)));
    }
    let original = body.clone();
    let compressed = tokio::task::spawn_blocking(move || gzip(&original, Compression::fast())).await;
    let Ok(Ok(compressed)) = compressed else {
        return Ok(reply(status, content_type, ReplyBody::full(body)));
    };
    let mut reply = reply(status, content_type, ReplyBody::full(compressed));
    reply.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    reply.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding"));
    Ok(reply)
}

impl Endpoint for ConsoleEndpoint {
    async fn answer(&self, request: Request<Incoming>, _peer: IpAddr) -> Response<ReplyBody> {
        let is_head = request.method() == Method::HEAD;
        let reply = self.0.respond(request).await.unwrap_or_else(|error| error_reply(&error));
        with_security_headers(if is_head { without_body(reply) } else { reply })
    }

    fn write_stall(&self) -> Duration {
        WRITE_STALL
    }

    fn shut_down(&self) {
        self.0.streams.close();
    }
}
