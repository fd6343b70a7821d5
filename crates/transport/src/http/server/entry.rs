//! Admission of JSON posts for endpoints that are not MCP, with the same checks as the MCP endpoint.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use switchboard_session::server::Caller;

use crate::http::server::accept::Accept;
use crate::http::server::body::ReplyBody;
use crate::http::server::options::HttpOptions;
use crate::http::server::pending_request::RequestHead;
use crate::http::server::reply;
use crate::http::server::request_checks::{self, LastAccepted, Rejection};

/// Admits JSON posts after checking host, origin, caller, content type and size. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Entry {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: HttpOptions,
    last_host: LastAccepted,
}

/// An admitted post.
#[derive(Debug)]
#[non_exhaustive]
pub struct Posted {
    /// The head of the request.
    pub head: RequestHead,
    /// The authenticated caller.
    pub caller: Option<Caller>,
    /// The body.
    pub body: Bytes,
    /// Whether the client accepts an event stream by name.
    pub names_events: bool,
    /// Whether the client accepts a JSON document.
    pub takes_json: bool,
    pub(crate) accept: Accept,
    pub(crate) peer: Option<IpAddr>,
}

impl Entry {
    /// Returns an entry at the path of these options. Their session settings are not used.
    pub fn new(options: HttpOptions) -> Self {
        Self { inner: Arc::new(Inner { options, last_host: LastAccepted::default() }) }
    }

    /// Returns the options.
    pub fn options(&self) -> &HttpOptions {
        &self.inner.options
    }

    /// Checks and reads a post.
    ///
    /// # Errors
    /// The response to a rejected request.
    pub async fn post<B>(&self, request: Request<B>) -> Result<Posted, Response<ReplyBody>>
    where
        B: Body<Data: Send> + Send,
    {
        self.post_from(request, None).await
    }

    /// Checks and reads a post from this peer address.
    ///
    /// # Errors
    /// As [`Self::post`].
    pub async fn post_from<B>(
        &self,
        request: Request<B>,
        peer: Option<IpAddr>,
    ) -> Result<Posted, Response<ReplyBody>>
    where
        B: Body<Data: Send> + Send,
    {
        let options = &self.inner.options;
        let (mut head, body) = request.into_parts();
        if head.uri.path() != options.path {
            let reason = format!("the endpoint is {}", options.path);
            return Err(reply::rejected(Rejection::new(StatusCode::NOT_FOUND, reason)));
        }
        request_checks::check_origin(options, &self.inner.last_host, &head.uri, &head.headers)
            .map_err(reply::rejected)?;
        let mut caller = None;
        if let Some(authenticate) = &options.authenticate {
            match authenticate.authenticate(&head).await {
                Ok(known) => caller = known,
                Err(rejection) => return Err(rejection.reply(options.resource_metadata.as_deref())),
            }
            // The credentials are for this server only.
            head.headers.remove(http::header::AUTHORIZATION);
        }
        if head.method != Method::POST {
            return Err(reply::not_allowed("POST"));
        }
        let accept = Accept::read(&head.headers).with_policy(options.accept);
        if accept.accepts_nothing() {
            let reason = "accept application/json or text/event-stream";
            return Err(reply::rejected(Rejection::new(StatusCode::NOT_ACCEPTABLE, reason)));
        }
        request_checks::check_type(&head.headers).map_err(reply::rejected)?;
        let body = request_checks::read_body(options, &head.headers, body).await.map_err(reply::rejected)?;
        let http::request::Parts { method, uri, headers, extensions, .. } = head;
        let head = RequestHead { method, uri, headers, extensions };
        let (names_events, takes_json) = (accept.names_events, accept.json);
        Ok(Posted { head, caller, body, names_events, takes_json, accept, peer })
    }
}

/// Encodes a message as one event of an event stream.
pub fn event(message: &[u8]) -> Bytes {
    reply::event(None, message)
}
