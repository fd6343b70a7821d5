//! The way in for an endpoint that is not MCP, on the same listener: the same guard before it, and nothing else.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use switchboard_session::server::Caller;

use crate::http::server::accept::Accept;
use crate::http::server::body::ReplyBody;
use crate::http::server::guard::{self, Known, Turned};
use crate::http::server::options::HttpOptions;
use crate::http::server::reply;
use crate::http::server::visitor::RequestHead;

/// Lets posts of JSON in, and turns everything else away: by the host they name, the page they come from, who calls, their
/// type and their size. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Entry {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: HttpOptions,
    known_host: Known,
}

/// A post that was let in.
#[derive(Debug)]
#[non_exhaustive]
pub struct Posted {
    /// The head of the request.
    pub head: RequestHead,
    /// On whose behalf it is made, where callers are told apart.
    pub caller: Option<Caller>,
    /// The body.
    pub body: Bytes,
    /// Whether the client takes an event stream, and says so by name.
    pub names_events: bool,
    /// Whether the client takes one JSON document.
    pub takes_json: bool,
    pub(crate) accept: Accept,
    pub(crate) peer: Option<IpAddr>,
}

impl Entry {
    /// An entry at the path of these options. What they say of sessions has no part in it.
    pub fn new(options: HttpOptions) -> Self {
        Self { inner: Arc::new(Inner { options, known_host: Known::default() }) }
    }

    /// What was set.
    pub fn options(&self) -> &HttpOptions {
        &self.inner.options
    }

    /// Reads a post.
    ///
    /// # Errors
    /// The answer to whoever is not let in.
    pub async fn post<B>(&self, request: Request<B>) -> Result<Posted, Response<ReplyBody>>
    where
        B: Body<Data: Send> + Send,
    {
        self.post_from(request, None).await
    }

    /// Reads a post that came on a connection from this address.
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
            return Err(reply::turned(Turned::new(StatusCode::NOT_FOUND, reason)));
        }
        guard::check_origin(options, &self.inner.known_host, &head.uri, &head.headers)
            .map_err(reply::turned)?;
        let mut caller = None;
        if let Some(authenticate) = &options.authenticate {
            match authenticate.authenticate(&head).await {
                Ok(known) => caller = known,
                Err(refused) => return Err(refused.reply(options.resource_metadata.as_deref())),
            }
            // It was for this server.
            head.headers.remove(http::header::AUTHORIZATION);
        }
        if head.method != Method::POST {
            return Err(reply::not_allowed("POST"));
        }
        let accept = Accept::read(&head.headers).under(options.accept);
        if accept.is_nothing() {
            let reason = "accept application/json or text/event-stream";
            return Err(reply::turned(Turned::new(StatusCode::NOT_ACCEPTABLE, reason)));
        }
        guard::check_type(&head.headers).map_err(reply::turned)?;
        let body = guard::read_body(options, &head.headers, body).await.map_err(reply::turned)?;
        let http::request::Parts { method, uri, headers, extensions, .. } = head;
        let head = RequestHead { method, uri, headers, extensions };
        let (names_events, takes_json) = (accept.names_events, accept.json);
        Ok(Posted { head, caller, body, names_events, takes_json, accept, peer })
    }
}

/// One event of an event stream that holds this message.
pub fn event(message: &[u8]) -> Bytes {
    reply::event(None, message)
}
