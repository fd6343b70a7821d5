//! Messages as text, and answers as HTTP.

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use switchboard_protocol::{ErrorCode, RequestId, RpcError};
use switchboard_session::server::Outcome;

use crate::http::message::{before_result, response_text};
use crate::http::server::accept::Accept;
use crate::http::server::authenticate::Refused;
use crate::http::server::body::ReplyBody;
use crate::http::server::guard::Turned;

/// An answer.
pub(crate) type Reply = Response<ReplyBody>;

/// Seconds after which a client that found no room may try again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// Tells proxies not to hold an event stream back.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// One event. A raw line break in a message can only be white space between its parts, so a space says the same; left
/// as it is, it would end the data.
pub(crate) fn event(id: Option<&str>, data: &[u8]) -> Bytes {
    let mut text = Vec::with_capacity(data.len() + id.map_or(0, str::len) + 16);
    if let Some(id) = id {
        text.extend_from_slice(b"id: ");
        text.extend_from_slice(id.as_bytes());
        text.push(b'\n');
    }
    text.extend_from_slice(b"data: ");
    let start = text.len();
    text.extend_from_slice(data);
    if memchr::memchr2(b'\n', b'\r', data).is_some() {
        text[start..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
    text.extend_from_slice(b"\n\n");
    text.into()
}

/// The status that a refusal of the protocol has over HTTP.
pub(crate) fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        ErrorCode::HEADER_MISMATCH
        | ErrorCode::MISSING_CLIENT_CAPABILITY
        | ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::PARSE_ERROR
        | ErrorCode::INVALID_REQUEST => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

fn response(status: StatusCode, media: &'static str, body: ReplyBody) -> Reply {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

/// A whole answer, in the form the client accepts.
pub(crate) fn message(accept: Accept, status: StatusCode, text: Vec<u8>) -> Reply {
    if accept.only_events() {
        let mut reply = response(status, "text/event-stream", ReplyBody::whole(event(None, &text)));
        reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        return reply;
    }
    response(status, "application/json", ReplyBody::whole(text))
}

/// Results from this size on are not copied on their way out.
const LARGE: usize = 16 * 1024;

/// The answer to a request, in the form the client accepts.
pub(crate) fn answer(accept: Accept, status: StatusCode, id: &RequestId, outcome: &Outcome) -> Reply {
    match outcome {
        Ok(result) if result.len() >= LARGE && !accept.only_events() => {
            let pieces = [before_result(id).into(), result.as_bytes().clone(), Bytes::from_static(b"}")];
            response(status, "application/json", ReplyBody::pieces(pieces))
        }
        outcome => message(accept, status, response_text(Some(id), outcome.as_ref())),
    }
}

/// The same answer; where it says that the caller lacks scopes, with the challenge to get them.
pub(crate) fn challenged(mut reply: Reply, outcome: &Outcome, metadata: Option<&str>) -> Reply {
    let Err(error) = outcome else { return reply };
    if let Some(scopes) = error.missing_scopes() {
        *reply.status_mut() = StatusCode::FORBIDDEN;
        Refused::insufficient_scope(scopes).challenge_in(&mut reply, metadata);
    }
    reply
}

/// An answer that goes on.
pub(crate) fn stream(body: ReplyBody) -> Reply {
    let mut reply = response(StatusCode::OK, "text/event-stream", body);
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply.headers_mut().insert(UNBUFFERED, HeaderValue::from_static("no"));
    reply
}

/// A status and nothing else.
pub(crate) fn bare(status: StatusCode) -> Reply {
    let mut response = Response::new(ReplyBody::empty());
    *response.status_mut() = status;
    response
}

/// A refusal of the protocol, with the status it has over HTTP.
pub(crate) fn refusal(id: Option<&RequestId>, status: StatusCode, error: RpcError) -> Reply {
    response(status, "application/json", ReplyBody::whole(response_text(id, Err(&error))))
}

/// A request that was turned away at the door.
pub(crate) fn turned(turned: Turned) -> Reply {
    let closes = matches!(turned.status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT);
    let mut reply = refusal(None, turned.status, RpcError::invalid_request(turned.reason));
    if matches!(reply.status(), StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        reply.headers_mut().insert(http::header::RETRY_AFTER, RETRY_AFTER);
    }
    if closes {
        // What is left of the body is not read.
        reply.headers_mut().insert(http::header::CONNECTION, HeaderValue::from_static("close"));
    }
    reply
}

/// A request that is answered only at its end, by a client that takes no stream.
pub(crate) fn needs_stream() -> Reply {
    let reason = "this request is answered by an event stream; accept text/event-stream";
    turned(Turned::new(StatusCode::NOT_ACCEPTABLE, reason))
}

/// A method that the endpoint does not have.
pub(crate) fn not_allowed(allowed: &'static str) -> Reply {
    let mut reply = bare(StatusCode::METHOD_NOT_ALLOWED);
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_break_in_a_message_cannot_end_its_event() {
        let text = event(Some("s1-1"), b"{\n\"a\":\r\n1}");
        assert_eq!(text, "id: s1-1\ndata: { \"a\":  1}\n\n");
    }
}
