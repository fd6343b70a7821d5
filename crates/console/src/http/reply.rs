//! Responses: errors as JSON, and the headers that every response has.

use http::header::{
    ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY,
    RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body::Body as _;
use switchboard_transport::http::server::ReplyBody;

use crate::contract::ApiError;

/// A response.
pub(super) type Reply = Response<ReplyBody>;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data:; media-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'";

/// The headers of every response.
fn security_headers() -> [(HeaderName, &'static str); 5] {
    [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ]
}

/// Returns a response that must not be stored.
pub(super) fn reply(status: StatusCode, content_type: &'static str, body: ReplyBody) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

/// Returns an error.
pub(super) fn error_reply(error: &ApiError) -> Reply {
    // A struct of strings can always be encoded.
    let body = serde_json::to_vec(error).unwrap_or_default();
    let mut reply = reply(error.status, "application/json", ReplyBody::full(body));
    let headers = reply.headers_mut();
    match error.status {
        StatusCode::UNAUTHORIZED => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("10"));
        }
        // The rest of the body is not read.
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT => {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        _ => {}
    }
    reply
}

/// Returns `405` with the methods that the path has.
pub(super) fn method_not_allowed(method: &http::Method, allowed: &str) -> Reply {
    let message = format!("the method `{method}` is not one of this path: {allowed}");
    let error = ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message);
    let mut reply = error_reply(&error);
    if let Ok(allowed) = HeaderValue::from_str(allowed) {
        reply.headers_mut().insert(ALLOW, allowed);
    }
    reply
}

/// Adds the headers that every response has.
pub(super) fn with_security_headers(mut reply: Reply) -> Reply {
    for (name, value) in security_headers() {
        reply.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    reply
}

/// Returns the response to a HEAD request: the headers only.
pub(super) fn without_body(mut reply: Reply) -> Reply {
    if let Some(length) = reply.body().size_hint().exact() {
        reply.headers_mut().insert(CONTENT_LENGTH, length.into());
    }
    *reply.body_mut() = ReplyBody::empty();
    reply
}
