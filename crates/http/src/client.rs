//! The client: sends one request and brings the head of its response, with every wait limited.
//!
//! Invariants: a request is sent twice only when the server cannot have seen the first (the pool does that for a
//! connection that turns out closed before a byte was written), or when its method is safe, or when the server said
//! so with a 307, a 308, or a 401 that the authorizer could answer; a response has at most [`MAX_HEADERS`] headers and
//! [`MAX_HEAD_BYTES`] of them. Dropping a call gives the request up: over HTTP/1.1 its connection closes.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::{Client, Error as PoolError};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::authorize::{Authorizer, Refusal, Retry};
use crate::body::{Body, ERROR_BODY_LIMIT};
use crate::challenge::Challenge;
use crate::dial::Dialer;
use crate::error::{ConnectKind, HttpError, Phase, find};
use crate::message::{Request, Response};
use crate::options::HttpOptions;
use crate::proxy::{Proxies, Proxy};
use crate::redirect;
use crate::tls::Tls;
use crate::url::Address;

/// How many headers a response may have.
pub const MAX_HEADERS: usize = 100;
/// How large the head of a response may be.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// How often an HTTP/2 connection is probed while a request is under way, and how long the answer may take.
const H2_PING: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(10));
/// How long a body nobody reads may take to end, so that its connection can be used again.
const DRAIN: Duration = Duration::from_secs(1);

/// What the client writes itself. `Host` is among them: a second opinion on whom a request is for is how requests
/// are smuggled.
const OWN_HEADERS: [HeaderName; 9] = [
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::EXPECT,
    header::PROXY_AUTHORIZATION,
];

/// Sends requests over pooled connections. Clones share the pool.
///
/// Must be used within a tokio runtime: each connection is a task of it, which ends when the connection does, at the
/// latest when it was idle for the time set and the client is gone.
#[derive(Clone)]
pub struct HttpClient {
    inner: Arc<Inner>,
}

struct Inner {
    pool: Client<Dialer, Full<Bytes>>,
    proxies: Proxies,
    user_agent: Option<HeaderValue>,
}

impl HttpClient {
    /// A client with a pool of its own. Nothing is connected or read from disk yet.
    ///
    /// # Errors
    /// When an extra root certificate cannot be read.
    pub fn new(options: HttpOptions) -> Result<Self, HttpError> {
        let tls = Tls::new(&options.extra_roots, options.tls_timeout)?;
        let dialer = Dialer::new(tls, options.proxies.clone(), options.connect_timeout);
        let head = u32::try_from(MAX_HEAD_BYTES).expect("64 KiB fit");
        let pool = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .pool_idle_timeout(options.idle_connection)
            .http1_max_buf_size(MAX_HEAD_BYTES)
            .http1_max_headers(MAX_HEADERS)
            .http2_max_header_list_size(head)
            .http2_keep_alive_interval(H2_PING.0)
            .http2_keep_alive_timeout(H2_PING.1)
            .build(dialer);
        let inner = Inner { pool, proxies: options.proxies, user_agent: options.user_agent };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Sends a request and waits for the head of the response, whatever its status.
    ///
    /// A redirect is followed at the same origin with 307 and 308 only, [`MAX_REDIRECTS`](crate::MAX_REDIRECTS)
    /// times; the body is offered to be packed as gzip.
    ///
    /// # Errors
    /// When no response came; [`HttpError::not_sent`] says whether the server can have seen the request.
    ///
    /// # Cancellation
    /// Dropping the future gives the request up; the server may have seen it.
    pub async fn send(&self, request: Request) -> Result<Response, HttpError> {
        if let Some(name) = OWN_HEADERS.into_iter().find(|name| request.headers.contains_key(name)) {
            return Err(HttpError::Header { name });
        }
        let mut address = request.address.clone();
        let mut followed = 0;
        loop {
            let response = self.exchange(&request, &address).await?;
            match redirect::next(&address, response.status(), response.headers(), followed)? {
                Some(next) => {
                    let body = Body::new(response, request.timeouts.idle)?.1;
                    body.drain(ERROR_BODY_LIMIT, DRAIN).await;
                    address = next;
                    followed += 1;
                }
                None => {
                    let (head, body) = Body::new(response, request.timeouts.idle)?;
                    let http::response::Parts { status, version, headers, .. } = head;
                    return Ok(Response { status, version, headers, address, body });
                }
            }
        }
    }

    /// Sends a request with the credentials of an authorizer. When the server refuses (401, or 403 for want of
    /// scope) and the authorizer says [`Retry::Again`], it is sent once more, once for each of the two.
    ///
    /// What remains refused is handed on as the response.
    ///
    /// # Errors
    /// As [`HttpClient::send`], and when the authorizer fails.
    pub async fn send_authorized(
        &self,
        mut request: Request,
        authorizer: &dyn Authorizer,
    ) -> Result<Response, HttpError> {
        let mut answered: Vec<StatusCode> = Vec::new();
        loop {
            let credentials = authorizer.authorize(&request.address).await?;
            if let Some(value) = &credentials {
                request.headers.insert(header::AUTHORIZATION, value.clone());
            }
            let response = self.send(request.clone()).await?;
            let status = response.status;
            if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
                || answered.contains(&status)
            {
                return Ok(response);
            }
            let challenges = Challenge::all(&response.headers);
            if status == StatusCode::FORBIDDEN && !challenges.iter().any(Challenge::is_insufficient_scope) {
                return Ok(response);
            }
            let refusal = Refusal::new(&request.address, status, &challenges).with_sent(credentials.as_ref());
            match authorizer.challenged(refusal).await? {
                Retry::GiveUp => return Ok(response),
                Retry::Again => {
                    response.body.drain(ERROR_BODY_LIMIT, DRAIN).await;
                    answered.push(status);
                }
            }
        }
    }

    /// One exchange with one server, repeated once if the method is safe and the connection broke.
    async fn exchange(
        &self,
        request: &Request,
        address: &Address,
    ) -> Result<http::Response<Incoming>, HttpError> {
        match self.exchange_once(request, address).await {
            Err(HttpError::Broken { .. }) if matches!(request.method, Method::GET | Method::HEAD) => {
                self.exchange_once(request, address).await
            }
            other => other,
        }
    }

    async fn exchange_once(
        &self,
        request: &Request,
        address: &Address,
    ) -> Result<http::Response<Incoming>, HttpError> {
        let proxy = self.inner.proxies.of(address).filter(|_| !address.is_secure());
        let sending = self.inner.pool.request(self.outgoing(request, address, proxy));
        let response = match request.timeouts.headers {
            Some(after) => tokio::time::timeout(after, sending)
                .await
                .map_err(|_| HttpError::Timeout { phase: Phase::Headers, after })?,
            None => sending.await,
        };
        let response = response.map_err(failure)?;
        if response.headers().len() > MAX_HEADERS {
            return Err(HttpError::protocol(format!("the response has more than {MAX_HEADERS} headers")));
        }
        if let (StatusCode::PROXY_AUTHENTICATION_REQUIRED, Some(Proxy::Usable { host, .. })) =
            (response.status(), proxy)
        {
            return Err(HttpError::connect(host.as_str(), ConnectKind::ProxyCredentials));
        }
        Ok(response)
    }

    fn outgoing(
        &self,
        request: &Request,
        address: &Address,
        proxy: Option<&Proxy>,
    ) -> http::Request<Full<Bytes>> {
        let mut outgoing = http::Request::new(Full::new(request.body.clone()));
        *outgoing.method_mut() = request.method.clone();
        *outgoing.uri_mut() = address.uri().clone();
        let mut headers: HeaderMap = request.headers.clone();
        headers.entry(header::ACCEPT_ENCODING).or_insert(HeaderValue::from_static("gzip"));
        if let Some(user_agent) = &self.inner.user_agent {
            headers.entry(header::USER_AGENT).or_insert(user_agent.clone());
        }
        // To a proxy in the clear; in a tunnel the credentials go with its CONNECT.
        if let Some(Proxy::Usable { credentials: Some(credentials), .. }) = proxy {
            headers.insert(header::PROXY_AUTHORIZATION, credentials.clone());
        }
        *outgoing.headers_mut() = headers;
        outgoing
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("proxies", &self.inner.proxies).finish_non_exhaustive()
    }
}

/// What the pool's error means.
fn failure(error: PoolError) -> HttpError {
    if let Some(ours) = find::<HttpError>(&error) {
        return ours.clone();
    }
    let hyper = find::<hyper::Error>(&error);
    if hyper.is_some_and(hyper::Error::is_parse) {
        // Which of the two it is, the library tells servers only.
        let reason = format!(
            "the response is not HTTP, or its head has more than {MAX_HEADERS} headers or {MAX_HEAD_BYTES} bytes"
        );
        return HttpError::Protocol { reason, source: Some(Arc::new(error)) };
    }
    let h2 = find::<h2::Error>(&error);
    // Found here, not sent by the server: a head beyond the limit is such an error.
    if h2.is_some_and(|h2| h2.is_library() && h2.reason() == Some(h2::Reason::PROTOCOL_ERROR)) {
        let reason = "the response is not HTTP/2, or its head is too large".to_owned();
        return HttpError::Protocol { reason, source: Some(Arc::new(error)) };
    }
    let refused = h2.and_then(h2::Error::reason) == Some(h2::Reason::REFUSED_STREAM);
    let kept = hyper.is_some_and(|error| error.is_canceled() || error.is_closed());
    let sent = !(refused || kept || error.is_connect());
    HttpError::Broken { sent, source: Some(Arc::new(error)) }
}
