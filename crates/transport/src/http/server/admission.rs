//! Admission of HTTP requests: the one sequence of checks before a message is parsed, for MCP and plain JSON-RPC.
//!
//! In this order: `Host` and `Origin`, authentication, method, `Accept`, content type, size and pace of the body. The
//! first check that fails decides the response.

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use switchboard_session::server::Caller;

use crate::http::server::metadata_document;
use crate::http::server::pending_request::PendingRequest;
use crate::http::server::reply::{self, Reply};
use crate::http::server::request_checks::{self, LastAccepted};
use crate::http::server::{Accept, AuthRejection, HttpServerOptions, MissingScopes, ReplyBody, RequestHead};

/// Admits or rejects the requests of an endpoint.
#[derive(Debug)]
pub struct Admission {
    options: HttpServerOptions,
    /// The last host that passed the check.
    last_host: LastAccepted,
}

/// A POST that was admitted, with its body.
#[derive(Debug)]
#[non_exhaustive]
pub struct AdmittedRequest {
    /// The head of the request.
    pub head: RequestHead,
    /// The authenticated caller.
    pub caller: Option<Arc<Caller>>,
    /// The reply formats that the client accepts.
    pub accept: Accept,
    /// The body.
    pub body: Bytes,
    /// The peer address of the connection, if known.
    pub(crate) peer: Option<IpAddr>,
}

impl Admission {
    /// Returns the admission of an endpoint with these options.
    pub fn new(options: HttpServerOptions) -> Self {
        Self { options, last_host: LastAccepted::default() }
    }

    /// Returns the options.
    pub fn options(&self) -> &HttpServerOptions {
        &self.options
    }

    /// Checks a POST from this peer address and reads its body. Does not check the path.
    ///
    /// # Errors
    /// The response to a rejected request.
    pub async fn admit<B>(
        &self,
        request: Request<B>,
        peer: Option<IpAddr>,
    ) -> Result<AdmittedRequest, Response<ReplyBody>>
    where
        B: Body<Data: Send> + Send,
    {
        let (parts, body) = request.into_parts();
        let PendingRequest { head, caller, peer } = self.admit_head(parts, peer).await?;
        if head.method != Method::POST {
            return Err(reply::not_allowed("POST"));
        }
        let accept = Accept::read(&head.headers).with_policy(self.options.accept);
        if accept.accepts_nothing() {
            let reason = "accept application/json or text/event-stream";
            return Err(reply::reject(StatusCode::NOT_ACCEPTABLE, reason));
        }
        request_checks::check_type(&head.headers).map_err(reply::rejected)?;
        let body = request_checks::read_body(&self.options, &head.headers, body);
        let body = body.await.map_err(reply::rejected)?;
        Ok(AdmittedRequest { head, caller, accept, body, peer })
    }

    /// Checks the head of a request with any method: host, origin and caller.
    pub(crate) async fn admit_head(
        &self,
        mut parts: Parts,
        peer: Option<IpAddr>,
    ) -> Result<PendingRequest, Reply> {
        request_checks::check_origin(&self.options, &self.last_host, &parts.uri, &parts.headers)
            .map_err(reply::rejected)?;
        let mut caller = None;
        if let Some(authenticate) = &self.options.authenticate {
            let context = self.options.challenge_context();
            caller = authenticate.authenticate(&parts).await.map_err(|error| error.reply(context))?;
            // The credentials are for this server only.
            parts.headers.remove(http::header::AUTHORIZATION);
            if context.dpop.is_some() {
                parts.headers.remove("dpop");
            }
        }
        let Parts { method, uri, version, headers, extensions, .. } = parts;
        let head = RequestHead { method, uri, version, headers, extensions };
        Ok(PendingRequest { head, caller, peer })
    }

    /// Returns the response to a request for the metadata document of the resource, which everybody may read; `None` for
    /// any other request.
    pub fn metadata_document<B>(&self, request: &Request<B>) -> Option<Response<ReplyBody>> {
        let resource = self.options.protected_resource.as_ref()?;
        metadata_document::respond(resource, request.method(), request.uri().path())
    }

    /// Adds the challenge for the scopes that calls lack to their response, with status 403 unless other calls of the same
    /// request were executed: a client repeats it with a token that has more scopes.
    pub fn challenge_scopes(&self, reply: &mut Response<ReplyBody>, missing: &MissingScopes) {
        if missing.scopes.is_empty() {
            return;
        }
        if !missing.has_executed {
            *reply.status_mut() = StatusCode::FORBIDDEN;
        }
        AuthRejection::insufficient_scope(&missing.scopes)
            .add_challenge(reply, self.options.challenge_context());
    }

    /// Returns the response to a request for another path.
    pub fn not_found(&self) -> Response<ReplyBody> {
        reply::reject(StatusCode::NOT_FOUND, format!("the endpoint is {}", self.options.path))
    }
}
