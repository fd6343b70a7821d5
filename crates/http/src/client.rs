//! The HTTP client: sends a request and returns the head of its response, with a timeout on every wait.
//!
//! Invariants: a request is sent twice only when the server cannot have seen the first (the pool does that for a
//! connection that turns out closed before a byte was written), or when its method is safe, or when the server said
//! so with a 307, a 308, or a 401 that the authorizer could resolve; a response has at most [`MAX_HEADERS`] headers and
//! [`MAX_HEAD_BYTES`](crate::MAX_HEAD_BYTES) of them. Dropping a call cancels the request: over HTTP/1.1 its connection
//! closes.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;

use crate::authorize::{Authorizer, MAX_AUTHORIZED_ATTEMPTS, RequestTarget, Retry, UnauthorizedResponse};
use crate::body::{Body, ERROR_BODY_LIMIT};
use crate::challenge::Challenge;
use crate::dial::Dialer;
use crate::echoed_credentials::mask_echoed;
use crate::error::{ConnectKind, HttpError, TimeoutPhase};
use crate::message::{Request, Response};
use crate::network_scope::NetworkScope;
use crate::options::HttpClientOptions;
use crate::pool::{Lease, MAX_HEADERS, Pool};
use crate::proxy::{Proxies, Proxy};
use crate::redirect;
use crate::tls::Tls;
use crate::url::Address;

/// The accepted content coding.
const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// How long to drain an unused body, so that its connection can be reused.
const DRAIN: Duration = Duration::from_secs(1);

/// Headers that the client sets itself. `Host` is among them, because a conflicting host enables request smuggling.
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
    pool: Pool,
    proxies: Proxies,
    user_agent: Option<HeaderValue>,
}

impl HttpClient {
    /// Returns a client with its own pool. Nothing is connected or read from disk yet.
    ///
    /// # Errors
    /// When an extra root certificate cannot be read.
    pub fn new(options: HttpClientOptions) -> Result<Self, HttpError> {
        let tls = Tls::new(&options.extra_roots, options.tls_timeout)?;
        let dialer = Dialer::new(tls, options.proxies.clone(), options.connect_timeout)
            .with_unix_socket(options.unix_socket);
        let pool = Pool::new(dialer, options.idle_connection);
        let inner = Inner { pool, proxies: options.proxies, user_agent: options.user_agent };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Sends a request and waits for the head of the response, whatever its status.
    ///
    /// A redirect is followed at the same origin with 307 and 308 only, [`MAX_REDIRECTS`](crate::MAX_REDIRECTS)
    /// times; gzip is accepted.
    ///
    /// # Errors
    /// When no response came; [`HttpError::is_unsent`] says whether the server can have seen the request.
    ///
    /// # Cancellation
    /// Dropping the future cancels the request; the server may have seen it.
    pub async fn send(&self, mut request: Request) -> Result<Response, HttpError> {
        self.add_own_headers(&mut request)?;
        self.follow(&request).await
    }

    /// Returns where a server is reachable from: the scope of the address at which this client has reached it lately, or
    /// else of the addresses of its name. A server that is not known, or is reached through a proxy, counts as global; one with
    /// several addresses as the outermost of them.
    pub async fn network_scope(&self, server: &Address) -> NetworkScope {
        self.inner.pool.network_scope(server).await
    }

    /// Adds the headers that the client sets itself. Redirects keep them, because they stay at the origin.
    fn add_own_headers(&self, request: &mut Request) -> Result<(), HttpError> {
        let Request { headers, address, body, .. } = request;
        if let Some(name) = headers.keys().find(|name| OWN_HEADERS.contains(name)) {
            return Err(HttpError::Header { name: name.clone() });
        }
        headers.reserve(4);
        headers.insert(header::HOST, address.host_header().clone());
        if !body.is_empty() {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
        }
        headers.entry(header::ACCEPT_ENCODING).or_insert(GZIP);
        if let Some(user_agent) = &self.inner.user_agent {
            headers.entry(header::USER_AGENT).or_insert_with(|| user_agent.clone());
        }
        Ok(())
    }

    /// Sends a complete request and follows redirects.
    async fn follow(&self, request: &Request) -> Result<Response, HttpError> {
        let mut address = request.address.clone();
        let mut followed = 0;
        loop {
            let (response, lease) = self.exchange(request, &address).await?;
            match redirect::next(&address, response.status(), response.headers(), followed)? {
                Some(next) => {
                    let body = Body::new(response, request.timeouts.idle, lease)?.1;
                    body.drain(ERROR_BODY_LIMIT, DRAIN).await;
                    address = next;
                    followed += 1;
                }
                None => {
                    let (head, body) = Body::new(response, request.timeouts.idle, lease)?;
                    let http::response::Parts { status, version, headers, .. } = head;
                    return Ok(Response { status, version, headers, address, body });
                }
            }
        }
    }

    /// Sends a request with the credentials of an authorizer. When the server refuses (401, or 403 for want of
    /// scope) and the authorizer says [`Retry::Again`], it is sent again, [`MAX_AUTHORIZED_ATTEMPTS`] times in all.
    ///
    /// A request that is still refused returns that response.
    ///
    /// # Errors
    /// As [`HttpClient::send`], and when the authorizer fails.
    pub async fn send_authorized(
        &self,
        mut request: Request,
        authorizer: &dyn Authorizer,
    ) -> Result<Response, HttpError> {
        self.add_own_headers(&mut request)?;
        let mut attempt = 1;
        // The headers of a refused attempt: the next one may need others.
        let mut sent_names: Vec<HeaderName> = Vec::new();
        loop {
            let credentials =
                authorizer.authorize(RequestTarget::new(&request.method, &request.address)).await?;
            for name in sent_names.drain(..) {
                request.headers.remove(name);
            }
            for (name, value) in credentials.headers() {
                request.headers.insert(name, value.clone());
            }
            let mut response = self.follow(&request).await?;
            mask_echoed(&mut response.headers, &credentials);
            let target = RequestTarget::new(&request.method, &request.address);
            let (status, headers) = (response.status, &response.headers);
            authorizer.observe_response(target, status, headers);
            if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
                || attempt == MAX_AUTHORIZED_ATTEMPTS
            {
                return Ok(response);
            }
            let challenges = Challenge::from_headers(headers);
            if status == StatusCode::FORBIDDEN && !challenges.iter().any(Challenge::is_insufficient_scope) {
                return Ok(response);
            }
            let unauthorized = UnauthorizedResponse::new(target, status, headers, &challenges, &credentials)
                .with_attempt(attempt);
            match authorizer.handle_unauthorized(unauthorized).await? {
                Retry::GiveUp => return Ok(response),
                Retry::Again => {
                    response.body.drain(ERROR_BODY_LIMIT, DRAIN).await;
                    sent_names.extend(credentials.headers().iter().map(|(name, _)| name.clone()));
                    attempt += 1;
                }
            }
        }
    }

    /// Sends the request once, and again if the connection broke and the method is safe.
    async fn exchange(&self, request: &Request, address: &Address) -> Result<ResponseWithLease, HttpError> {
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
    ) -> Result<ResponseWithLease, HttpError> {
        let proxy = self.inner.proxies.for_address(address).filter(|_| !address.is_secure());
        let outgoing = build_outgoing(request, proxy);
        let sending = self.inner.pool.send(address, request.address_policy, outgoing);
        let (response, lease) = match request.timeouts.headers {
            Some(after) => tokio::time::timeout(after, sending)
                .await
                .map_err(|_| HttpError::Timeout { phase: TimeoutPhase::Headers, after })?,
            None => sending.await,
        }?;
        if response.headers().len() > MAX_HEADERS {
            return Err(HttpError::protocol(format!("the response has more than {MAX_HEADERS} headers")));
        }
        if let (StatusCode::PROXY_AUTHENTICATION_REQUIRED, Some(Proxy::Usable { host, .. })) =
            (response.status(), proxy)
        {
            return Err(HttpError::connect(host.as_str(), ConnectKind::ProxyCredentials));
        }
        Ok((response, lease))
    }
}

/// A response whose body is unread, and the lease of its connection.
type ResponseWithLease = (http::Response<Incoming>, Option<Lease>);

fn build_outgoing(request: &Request, proxy: Option<&Proxy>) -> http::Request<Full<Bytes>> {
    let mut build_outgoing = http::Request::new(Full::new(request.body.clone()));
    *build_outgoing.method_mut() = request.method.clone();
    *build_outgoing.headers_mut() = request.headers.clone();
    // To a proxy in the clear; in a tunnel the credentials go with its CONNECT.
    if let Some(Proxy::Usable { credentials: Some(credentials), .. }) = proxy {
        build_outgoing.headers_mut().insert(header::PROXY_AUTHORIZATION, credentials.clone());
    }
    build_outgoing
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("proxies", &self.inner.proxies).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
