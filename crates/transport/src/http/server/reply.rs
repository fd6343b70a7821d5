//! Messages as text, and answers as HTTP.

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use switchboard_protocol::{ErrorCode, Raw, RequestId, RpcError};
use switchboard_session::answering::Outcome;

use crate::http::server::accept::Accept;
use crate::http::server::body::ReplyBody;
use crate::http::server::guard::Turned;

/// An answer.
pub(crate) type Reply = Response<ReplyBody>;

/// Tells proxies not to hold an event stream back.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The text of a response.
pub(crate) fn response_text(id: Option<&RequestId>, outcome: &Outcome) -> String {
    let mut text = br#"{"jsonrpc":"2.0""#.to_vec();
    if let Some(id) = id {
        text.extend_from_slice(br#","id":"#);
        id.write_json(&mut text);
    }
    match outcome {
        Ok(result) => {
            text.extend_from_slice(br#","result":"#);
            text.extend_from_slice(result.as_str().as_bytes());
        }
        Err(error) => {
            let error = Raw::encode(error).unwrap_or_else(|_| Raw::empty_object());
            text.extend_from_slice(br#","error":"#);
            text.extend_from_slice(error.as_str().as_bytes());
        }
    }
    text.push(b'}');
    String::from_utf8(text).unwrap_or_default()
}

/// The text of a notification.
pub(crate) fn note_text(method: &str, params: Option<&Raw>) -> String {
    let method = serde_json::Value::from(method);
    match params {
        Some(params) => format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{}}}"#, params.as_str()),
        None => format!(r#"{{"jsonrpc":"2.0","method":{method}}}"#),
    }
}

/// The text of a request.
pub(crate) fn request_text(id: &RequestId, method: &str, params: &Raw) -> String {
    let (id, method) = (serde_json::json!(id), serde_json::Value::from(method));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{}}}"#, params.as_str())
}

/// One event; messages hold no newline.
pub(crate) fn event(id: Option<&str>, data: &str) -> Bytes {
    match id {
        Some(id) => format!("id: {id}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    }
    .into()
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
pub(crate) fn message(accept: Accept, status: StatusCode, text: String) -> Reply {
    if accept.only_events() {
        let mut reply = response(status, "text/event-stream", ReplyBody::whole(event(None, &text)));
        reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        return reply;
    }
    response(status, "application/json", ReplyBody::whole(text))
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
    response(status, "application/json", ReplyBody::whole(response_text(id, &Err(error))))
}

/// A request that was turned away at the door.
pub(crate) fn turned(turned: Turned) -> Reply {
    let closes = matches!(turned.status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT);
    let mut reply = refusal(None, turned.status, RpcError::invalid_request(turned.reason));
    if closes {
        // What is left of the body is not read.
        reply.headers_mut().insert(http::header::CONNECTION, HeaderValue::from_static("close"));
    }
    reply
}

/// A method that the endpoint does not have.
pub(crate) fn not_allowed(allowed: &'static str) -> Reply {
    let mut reply = bare(StatusCode::METHOD_NOT_ALLOWED);
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}
