//! How the three kinds of message are put together, in parts, without building them anywhere else first.

use std::borrow::Cow;
use std::io::Write as _;

use switchboard_protocol::{Raw, RequestId, RpcError};

use crate::link::{Claim, LinkError, Outbox, Ticket};

/// The text of an id, on the stack for numbers.
enum IdText {
    Number([u8; 20], usize),
    String(Vec<u8>),
}

impl IdText {
    fn new(id: &RequestId) -> Self {
        match id {
            RequestId::Number(number) => {
                let mut digits = [0; 20];
                let mut rest = &mut digits[..];
                write!(rest, "{number}").expect("20 bytes hold any i64");
                let len = 20 - rest.len();
                Self::Number(digits, len)
            }
            RequestId::String(_) => {
                let mut text = Vec::new();
                id.write_json(&mut text);
                Self::String(text)
            }
        }
    }

    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Number(digits, len) => &digits[..*len],
            Self::String(text) => text,
        }
    }
}

/// A method between quotes; those of the specification need no escaping.
fn quoted(method: &str) -> Cow<'_, str> {
    if method.bytes().all(|b| b >= 0x20 && b != b'"' && b != b'\\') {
        return method.into();
    }
    let json = serde_json::Value::from(method).to_string();
    json[1..json.len() - 1].to_owned().into()
}

pub(crate) fn put_request(
    outbox: &Outbox,
    id: &RequestId,
    method: &str,
    params: &str,
) -> Result<Ticket, LinkError> {
    let (id, method) = (IdText::new(id), quoted(method));
    let parts: [&[u8]; 7] = [
        br#"{"jsonrpc":"2.0","id":"#,
        id.as_bytes(),
        br#","method":""#,
        method.as_bytes(),
        br#"","params":"#,
        params.as_bytes(),
        b"}",
    ];
    outbox.put(&parts, Claim::Room)
}

pub(crate) fn put_note(outbox: &Outbox, method: &str, params: Option<&str>) -> Result<Ticket, LinkError> {
    let method = quoted(method);
    let head: &[u8] = br#"{"jsonrpc":"2.0","method":""#;
    match params {
        Some(params) => {
            outbox.put(&[head, method.as_bytes(), br#"","params":"#, params.as_bytes(), b"}"], Claim::Exempt)
        }
        None => outbox.put(&[head, method.as_bytes(), br#""}"#], Claim::Exempt),
    }
}

pub(crate) fn put_answer(
    outbox: &Outbox,
    id: Option<&RequestId>,
    outcome: Result<&Raw, &RpcError>,
) -> Result<Ticket, LinkError> {
    with_answer(id, outcome, |parts| outbox.put(parts, Claim::Exempt))
}

/// The text of an answer, for one element of a batch.
pub(crate) fn answer_text(id: Option<&RequestId>, outcome: Result<&Raw, &RpcError>) -> Vec<u8> {
    with_answer(id, outcome, |parts| parts.concat())
}

fn with_answer<T>(
    id: Option<&RequestId>,
    outcome: Result<&Raw, &RpcError>,
    take: impl FnOnce(&[&[u8]]) -> T,
) -> T {
    let id = id.map(IdText::new);
    let (head, id): (&[u8], &[u8]) = match &id {
        Some(id) => (br#"{"jsonrpc":"2.0","id":"#, id.as_bytes()),
        // The id could not be read: the specification's types forbid null, so the member is left out.
        None => (br#"{"jsonrpc":"2.0""#, b""),
    };
    match outcome {
        Ok(result) => take(&[head, id, br#","result":"#, result.as_str().as_bytes(), b"}"]),
        Err(error) => {
            let error = Raw::encode(error).unwrap_or_else(|_| Raw::empty_object());
            take(&[head, id, br#","error":"#, error.as_str().as_bytes(), b"}"])
        }
    }
}
