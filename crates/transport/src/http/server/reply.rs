//! HTTP responses: JSON documents, event streams, errors.

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use switchboard_protocol::jsonrpc::MalformedMessage;
use switchboard_protocol::{ErrorCode, RequestId, RpcError};
use switchboard_session::server::Outcome;

use crate::http::message::{before_result, response_text};
use crate::http::server::authenticate::ChallengeContext;
use crate::http::server::request_checks::Rejection;
use crate::http::server::{Accept, AuthRejection, ReplyBody};

/// An HTTP response.
pub(crate) type Reply = Response<ReplyBody>;

/// The `Retry-After` value in seconds of a response to an overloaded server.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// Tells proxies not to buffer an event stream.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Encodes one event. A raw line break in JSON can only be insignificant white space, so it is replaced by a space;
/// otherwise it would end the data.
pub(crate) fn event_with_id(id: Option<&str>, data: &[u8]) -> Bytes {
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

/// Encodes a message as one event of an event stream.
pub fn encode_message_event(message: &[u8]) -> Bytes {
    event_with_id(None, message)
}

/// Returns the error for text that is not a JSON-RPC message, and the id of its request if one can be read.
pub fn malformed_error(malformed: &MalformedMessage) -> (Option<RequestId>, RpcError) {
    let code = if malformed.is_json() { ErrorCode::INVALID_REQUEST } else { ErrorCode::PARSE_ERROR };
    let id = malformed.recovered.id.clone().filter(|_| malformed.is_json());
    (id, RpcError::new(code, malformed.to_string()))
}

/// Returns the HTTP status of a JSON-RPC error code.
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

/// Returns a JSON document with status 200.
pub(crate) fn json_response(body: ReplyBody) -> Reply {
    response(StatusCode::OK, "application/json", body)
}

/// Returns a complete message in the format that the client accepts.
pub fn message_response(accept: Accept, status: StatusCode, text: impl Into<Bytes>) -> Response<ReplyBody> {
    let text = text.into();
    if accept.only_events() {
        let mut reply = response(status, "text/event-stream", ReplyBody::full(encode_message_event(&text)));
        reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        return reply;
    }
    response(status, "application/json", ReplyBody::full(text))
}

/// Results of at least this size are not copied into the body.
const LARGE_RESULT: usize = 16 * 1024;

/// Returns the response to a request in the format that the client accepts.
pub(crate) fn answer(accept: Accept, status: StatusCode, id: &RequestId, outcome: &Outcome) -> Reply {
    match outcome {
        Ok(result) if result.len() >= LARGE_RESULT && !accept.only_events() => {
            let pieces = [before_result(id).into(), result.as_bytes().clone(), Bytes::from_static(b"}")];
            response(status, "application/json", ReplyBody::pieces(pieces))
        }
        outcome => message_response(accept, status, response_text(Some(id), outcome.as_ref())),
    }
}

/// Adds status 403 and a challenge if the error says that the caller lacks scopes.
pub(crate) fn with_challenge(mut reply: Reply, outcome: &Outcome, context: ChallengeContext<'_>) -> Reply {
    let Err(error) = outcome else { return reply };
    if let Some(scopes) = error.missing_scopes() {
        *reply.status_mut() = StatusCode::FORBIDDEN;
        AuthRejection::insufficient_scope(scopes).add_challenge(&mut reply, context);
    }
    reply
}

/// Returns an event stream.
pub fn stream_response(body: ReplyBody) -> Response<ReplyBody> {
    let mut reply = response(StatusCode::OK, "text/event-stream", body);
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply.headers_mut().insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    reply
}

/// Returns a response without a body.
pub fn status_response(status: StatusCode) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::empty());
    *response.status_mut() = status;
    response
}

/// Returns a JSON-RPC error with this status.
pub(crate) fn rpc_error(id: Option<&RequestId>, status: StatusCode, error: RpcError) -> Reply {
    response(status, "application/json", ReplyBody::full(response_text(id, Err(&error))))
}

/// Returns the reply, or the one that rejects the request.
pub(crate) fn either(outcome: Result<Reply, Reply>) -> Reply {
    outcome.unwrap_or_else(|rejection| rejection)
}

/// Rejects a request.
pub(crate) fn reject(status: StatusCode, reason: impl Into<String>) -> Reply {
    rejected(Rejection::new(status, reason))
}

/// Returns the response to a rejected request.
pub(crate) fn rejected(rejection: Rejection) -> Reply {
    let closes = matches!(rejection.status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT);
    let mut reply = rpc_error(None, rejection.status, RpcError::invalid_request(rejection.reason));
    if matches!(reply.status(), StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
        reply.headers_mut().insert(http::header::RETRY_AFTER, RETRY_AFTER);
    }
    if closes {
        // The rest of the request body is not read.
        reply.headers_mut().insert(http::header::CONNECTION, HeaderValue::from_static("close"));
    }
    reply
}

/// Returns the response to a long-lived request whose client does not accept event streams.
pub(crate) fn needs_stream() -> Reply {
    let reason = "this request is answered by an event stream; accept text/event-stream";
    reject(StatusCode::NOT_ACCEPTABLE, reason)
}

/// Returns 405 with the allowed methods.
pub(crate) fn not_allowed(allowed: &'static str) -> Reply {
    let mut reply = status_response(StatusCode::METHOD_NOT_ALLOWED);
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_break_in_a_message_cannot_end_its_event() {
        let text = event_with_id(Some("s1-1"), b"{\n\"a\":\r\n1}");
        assert_eq!(text, "id: s1-1\ndata: { \"a\":  1}\n\n");
    }
}
