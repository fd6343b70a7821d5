//! Encodes the three kinds of message in parts, straight into the outbox.

use std::borrow::Cow;

use switchboard_protocol::{Raw, RequestId, RpcError};

use crate::link::{Claim, Flush, LinkError, Outbox, Part, Ticket};

/// The text of an id, on the stack for numbers.
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

/// A method between quotes; those of the specification need no escaping.
fn quoted(method: &str) -> Cow<'_, str> {
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
) -> Result<Ticket, LinkError> {
    let (mut id, method) = (IdText::new(id), quoted(method));
    let parts = [
        Part::Text(br#"{"jsonrpc":"2.0","id":"#),
        Part::Text(id.as_bytes()),
        Part::Text(br#","method":""#),
        Part::Text(method.as_bytes()),
        Part::Text(br#"","params":"#),
        Part::Text(params.as_bytes()),
        Part::Text(b"}"),
    ];
    outbox.put(&parts, Claim::Room, flush)
}

pub(crate) fn put_note(outbox: &Outbox, method: &str, params: Option<&str>) -> Result<Ticket, LinkError> {
    let method = quoted(method);
    let head = [Part::Text(br#"{"jsonrpc":"2.0","method":""#), Part::Text(method.as_bytes())];
    let put = |parts: &[Part<'_>]| outbox.put(parts, Claim::Exempt, Flush::Soon);
    match params {
        Some(params) => {
            let params = Part::Text(params.as_bytes());
            put(&[head[0], head[1], Part::Text(br#"","params":"#), params, Part::Text(b"}")])
        }
        None => put(&[head[0], head[1], Part::Text(br#""}"#)]),
    }
}

pub(crate) fn put_answer(
    outbox: &Outbox,
    id: Option<&RequestId>,
    outcome: Result<&Raw, &RpcError>,
    flush: Flush,
) -> Result<Ticket, LinkError> {
    with_answer(id, outcome, |parts| outbox.put(parts, Claim::Exempt, flush))
}

/// The text of an answer, for one element of a batch.
#[cfg(feature = "server")]
pub(crate) fn answer_text(id: Option<&RequestId>, outcome: Result<&Raw, &RpcError>) -> Vec<u8> {
    with_answer(id, outcome, |parts| parts.iter().flat_map(Part::as_bytes).copied().collect())
}

fn with_answer<T>(
    id: Option<&RequestId>,
    outcome: Result<&Raw, &RpcError>,
    take: impl FnOnce(&[Part<'_>]) -> T,
) -> T {
    let mut id = id.map(IdText::new);
    let (head, id): (&[u8], &[u8]) = match &mut id {
        Some(id) => (br#"{"jsonrpc":"2.0","id":"#, id.as_bytes()),
        // The id could not be read: the specification's types forbid null, so the member is left out.
        None => (br#"{"jsonrpc":"2.0""#, b""),
    };
    match outcome {
        Ok(result) => take(&[
            Part::Text(head),
            Part::Text(id),
            Part::Text(br#","result":"#),
            Part::Shared(result.as_bytes()),
            Part::Text(b"}"),
        ]),
        Err(error) => {
            let error = Raw::encode(error).unwrap_or_else(|_| Raw::empty_object());
            let error = Part::Shared(error.as_bytes());
            take(&[Part::Text(head), Part::Text(id), Part::Text(br#","error":"#), error, Part::Text(b"}")])
        }
    }
}
