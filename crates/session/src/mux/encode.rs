//! Encodes requests, notifications and responses in parts, directly into the outbox.

use std::borrow::Cow;

use switchboard_protocol::{Raw, RequestId, RpcError};

use crate::link::{Flush, FramePart, LimitCheck, LinkError, Outbox, StreamOffset};

/// The JSON text of an id; numbers are formatted on the stack.
enum IdText {
    Number(itoa::Buffer, i64),
    String(Vec<u8>),
}

impl IdText {
    fn new(id: &RequestId) -> Self {
        match id {
            RequestId::Number(number) => Self::Number(itoa::Buffer::new(), *number),
            RequestId::String(_) => {
                let mut text = Vec::new();
                id.write_json(&mut text);
                Self::String(text)
            }
        }
    }

    fn as_bytes(&mut self) -> &[u8] {
        match self {
            Self::Number(digits, number) => digits.format(*number).as_bytes(),
            Self::String(text) => text,
        }
    }
}

/// Escapes a method name for a JSON string; the names of the specification need none.
fn escaped(method: &str) -> Cow<'_, str> {
    if method.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\') {
        return method.into();
    }
    let json = Raw::encode(method).expect("a string is always JSON");
    json.as_str()[1..json.len() - 1].to_owned().into()
}

pub(crate) fn put_request(
    outbox: &Outbox,
    id: &RequestId,
    method: &str,
    params: &str,
    flush: Flush,
) -> Result<StreamOffset, LinkError> {
    let (mut id, method) = (IdText::new(id), escaped(method));
    let parts = [
        FramePart::Text(br#"{"jsonrpc":"2.0","id":"#),
        FramePart::Text(id.as_bytes()),
        FramePart::Text(br#","method":""#),
        FramePart::Text(method.as_bytes()),
        FramePart::Text(br#"","params":"#),
        FramePart::Text(params.as_bytes()),
        FramePart::Text(b"}"),
    ];
    outbox.put(&parts, LimitCheck::Enforced, flush)
}

pub(crate) fn put_note(
    outbox: &Outbox,
    method: &str,
    params: Option<&str>,
) -> Result<StreamOffset, LinkError> {
    let method = escaped(method);
    let head = [FramePart::Text(br#"{"jsonrpc":"2.0","method":""#), FramePart::Text(method.as_bytes())];
    let put = |parts: &[FramePart<'_>]| outbox.put(parts, LimitCheck::Exempt, Flush::Soon);
    match params {
        Some(params) => {
            let params = FramePart::Text(params.as_bytes());
            put(&[head[0], head[1], FramePart::Text(br#"","params":"#), params, FramePart::Text(b"}")])
        }
        None => put(&[head[0], head[1], FramePart::Text(br#""}"#)]),
    }
}

pub(crate) fn put_answer(
    outbox: &Outbox,
    id: Option<&RequestId>,
    outcome: Result<&Raw, &RpcError>,
    flush: Flush,
) -> Result<StreamOffset, LinkError> {
    with_answer(id, outcome, |parts| outbox.put(parts, LimitCheck::Exempt, flush))
}

/// Encodes a response as one element of a batch.
#[cfg(feature = "server")]
pub(crate) fn answer_text(id: Option<&RequestId>, outcome: Result<&Raw, &RpcError>) -> Vec<u8> {
    with_answer(id, outcome, |parts| parts.iter().flat_map(FramePart::as_bytes).copied().collect())
}

fn with_answer<T>(
    id: Option<&RequestId>,
    outcome: Result<&Raw, &RpcError>,
    take: impl FnOnce(&[FramePart<'_>]) -> T,
) -> T {
    let mut id = id.map(IdText::new);
    let (head, id): (&[u8], &[u8]) = match &mut id {
        Some(id) => (br#"{"jsonrpc":"2.0","id":"#, id.as_bytes()),
        // The id could not be parsed: the specification's types forbid null, so the member is omitted.
        None => (br#"{"jsonrpc":"2.0""#, b""),
    };
    match outcome {
        Ok(result) => take(&[
            FramePart::Text(head),
            FramePart::Text(id),
            FramePart::Text(br#","result":"#),
            FramePart::Shared(result.as_bytes()),
            FramePart::Text(b"}"),
        ]),
        Err(error) => {
            let error = Raw::encode(error).unwrap_or_else(|_| Raw::empty_object());
            let error = FramePart::Shared(error.as_bytes());
            take(&[
                FramePart::Text(head),
                FramePart::Text(id),
                FramePart::Text(br#","error":"#),
                error,
                FramePart::Text(b"}"),
            ])
        }
    }
}
