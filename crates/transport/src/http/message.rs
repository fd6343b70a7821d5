//! Encodes JSON-RPC messages for both sides. Parameters and results are JSON already and are copied verbatim.
//!
//! Each message is written into one buffer of sufficient capacity.

use switchboard_protocol::{Raw, RequestId, RpcError};

/// Capacity for everything but the parameters, the result and the method.
const AROUND: usize = 64;

/// Encodes a request.
pub(crate) fn request_text(id: &RequestId, method: &str, params: &str) -> Vec<u8> {
    let mut text = Vec::with_capacity(AROUND + method.len() + params.len());
    text.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    id.write_json(&mut text);
    text.extend_from_slice(br#","method":"#);
    put_string(&mut text, method);
    text.extend_from_slice(br#","params":"#);
    text.extend_from_slice(params.as_bytes());
    text.push(b'}');
    text
}

/// Encodes a notification.
pub(crate) fn note_text(method: &str, params: Option<&str>) -> Vec<u8> {
    let mut text = Vec::with_capacity(AROUND + method.len() + params.map_or(0, str::len));
    text.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
    put_string(&mut text, method);
    if let Some(params) = params {
        text.extend_from_slice(br#","params":"#);
        text.extend_from_slice(params.as_bytes());
    }
    text.push(b'}');
    text
}

/// Encodes a response; without an id if that of the request could not be read.
pub(crate) fn response_text(id: Option<&RequestId>, outcome: Result<&Raw, &RpcError>) -> Vec<u8> {
    let error;
    let (member, value) = match outcome {
        Ok(result) => (&br#","result":"#[..], result),
        Err(refused) => {
            error = Raw::encode(refused).unwrap_or_else(|_| Raw::empty_object());
            (&br#","error":"#[..], &error)
        }
    };
    let mut text = Vec::with_capacity(AROUND + value.len());
    put_head(&mut text, id);
    text.extend_from_slice(member);
    text.extend_from_slice(value.as_str().as_bytes());
    text.push(b'}');
    text
}

/// Encodes the part of a response before its result. A closing brace follows the result.
#[cfg(feature = "http-server")]
pub(crate) fn before_result(id: &RequestId) -> Vec<u8> {
    let mut text = Vec::with_capacity(AROUND);
    put_head(&mut text, Some(id));
    text.extend_from_slice(br#","result":"#);
    text
}

fn put_head(text: &mut Vec<u8>, id: Option<&RequestId>) {
    text.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        text.extend_from_slice(br#","id":"#);
        id.write_json(text);
    }
}

fn put_string(text: &mut Vec<u8>, string: &str) {
    let is_plain = |byte: u8| (0x20..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    if string.bytes().all(is_plain) {
        text.push(b'"');
        text.extend_from_slice(string.as_bytes());
        text.push(b'"');
    } else {
        serde_json::to_writer(text, string).expect("a string is always JSON, and memory does not fail");
    }
}
