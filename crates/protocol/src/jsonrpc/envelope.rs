//! JSON-RPC messages: classified in one pass over the frame, with the payload kept as text.
//!
//! Every received frame goes through [`parse`]. Member names are case-sensitive (`"Method"` is not `method`), members
//! that JSON-RPC does not define are ignored, and a duplicate member makes the message malformed.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use bytestring::ByteString;
use serde_core::de::IgnoredAny;
use switchboard_json::{Raw, decode_string};

use crate::jsonrpc::code::{RpcError, read_error};
use crate::jsonrpc::id::RequestId;
use crate::jsonrpc::members::{self, FrameShape, MessageMembers};
use crate::jsonrpc::message_error::{MessageError, MessageErrorKind};
use crate::jsonrpc::meta_cache::MetaCache;
use crate::jsonrpc::outline::Outline;
use crate::jsonrpc::param_fields::ParamFields;
use crate::jsonrpc::recovery::{RecoveredMessage, recover};

/// The maximum length of a method name, in bytes.
pub const MAX_METHOD_BYTES: usize = 256;

/// One JSON-RPC message.
#[derive(Debug, Clone, PartialEq)]
pub enum Envelope {
    /// A request, which expects a response.
    Request(Request),
    /// A notification, which expects no response.
    Notification(Notification),
    /// A response.
    Response(Response),
}

/// A JSON-RPC request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The id that the response must carry.
    pub id: RequestId,
    /// The method.
    pub method: ByteString,
    /// The parameters.
    pub params: Option<Raw>,
    /// The spans of the members of the parameters, recorded while the frame was scanned.
    pub outline: Outline,
    /// The value of the member `jsonrpc`.
    pub version: Version,
}

impl Request {
    /// Returns the parameter `name`; of duplicates the last one wins.
    pub fn field(&self, name: &str) -> Option<Raw> {
        let params = self.params.as_ref()?;
        if !self.outline.is_known() {
            return params.fields().filter(|(known, _)| *known == name).last().map(|(_, value)| value);
        }
        let text = params.as_str().as_bytes();
        let spans = (0..).map_while(|index| self.outline.get(index));
        let found = spans.filter(|(known, _)| text.get(known.clone()) == Some(name.as_bytes())).last();
        found.map(|(_, value)| params.part(value))
    }

    /// Returns the `_meta` of the parameters as text, if it was recorded by the scan.
    #[inline]
    pub fn meta(&self) -> RequestMeta<'_> {
        let Some(params) = &self.params else { return RequestMeta::None };
        match self.outline.meta() {
            Some(span) => params.as_str().get(span).map_or(RequestMeta::None, RequestMeta::Text),
            None if self.outline.is_known() => RequestMeta::None,
            None => RequestMeta::Unknown,
        }
    }

    /// Iterates over the members of the parameters.
    pub fn fields(&self) -> ParamFields<'_> {
        ParamFields::new(self.params.as_ref(), self.outline)
    }
}

/// The `_meta` of a request as far as the scan recorded it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestMeta<'a> {
    /// The request has no `_meta`.
    None,
    /// The text of the `_meta`.
    Text(&'a str),
    /// Not recorded: [`Request::field`] has to scan the parameters.
    Unknown,
}

/// A JSON-RPC notification.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// The method.
    pub method: ByteString,
    /// The parameters.
    pub params: Option<Raw>,
    /// The value of the member `jsonrpc`.
    pub version: Version,
}

/// A JSON-RPC response.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The id of the request; `None` if the peer could not read it.
    pub id: Option<RequestId>,
    /// The result or the error.
    pub outcome: Result<Raw, RpcError>,
    /// The value of the member `jsonrpc`.
    pub version: Version,
}

/// The value of the member `jsonrpc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `"2.0"`.
    Two,
    /// Missing or any other value: clients tolerate it, servers reject it.
    Other,
}

/// The content of one frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// One message.
    Single(Envelope),
    /// A batch: an array of messages (2025-03-26 only), each parsed on its own.
    Batch(Vec<Result<Envelope, MalformedMessage>>),
}

/// The error of a frame that is not a JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MalformedMessage {
    /// The id and the kind of the message as far as they could be recovered.
    pub recovered: RecoveredMessage,
    /// The reason.
    pub error: MessageError,
}

impl fmt::Display for MalformedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a JSON-RPC message: {}", self.error)
    }
}

impl std::error::Error for MalformedMessage {}

impl MalformedMessage {
    /// Returns whether the bytes are valid JSON: the error code is then -32600 (invalid request), otherwise -32700
    /// (parse error).
    pub fn is_json(&self) -> bool {
        matches!(
            self.error.kind(),
            MessageErrorKind::Duplicate(_)
                | MessageErrorKind::BadMember(_)
                | MessageErrorKind::NoShape
                | MessageErrorKind::BatchTooLong
        )
    }
}

/// Parses one frame.
///
/// # Errors
/// When the frame is not a JSON-RPC message; the error carries the id if it could be recovered.
pub fn parse(frame: Bytes) -> Result<Message, MalformedMessage> {
    parse_with_cache(frame, &mut MetaCache::new())
}

/// Parses one frame of a connection, skipping the validation of a `_meta` that equals the cached one.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_cache(frame: Bytes, meta_cache: &mut MetaCache) -> Result<Message, MalformedMessage> {
    // UTF-8 is validated once for the whole frame; slices of it need no further check.
    let text = match ByteString::try_from(frame.clone()) {
        Ok(text) => text,
        Err(error) => {
            let error = MessageError::new(MessageErrorKind::NotUtf8, error.valid_up_to());
            return Err(MalformedMessage { recovered: recover(&frame), error });
        }
    };
    let malformed = |error| MalformedMessage { recovered: recover(text.as_bytes()), error };
    let mut members = MessageMembers::default();
    let shape = members::scan_frame(text.as_bytes(), 0, &mut members, meta_cache);
    match shape.map_err(|error| malformed(reclassify_scalar(&text, error)))? {
        FrameShape::Object => build_envelope(&text, &members).map(Message::Single).map_err(malformed),
        FrameShape::Array(elements) => Ok(Message::Batch(
            elements.into_iter().map(|span| parse_batch_element(&slice(&text, &span))).collect(),
        )),
    }
}

/// Parses one element of a batch.
fn parse_batch_element(text: &ByteString) -> Result<Envelope, MalformedMessage> {
    let malformed = |error| MalformedMessage { recovered: recover(text.as_bytes()), error };
    let mut members = MessageMembers::default();
    let shape = members::scan_frame(text.as_bytes(), 1, &mut members, &mut MetaCache::new());
    match shape.map_err(|error| malformed(reclassify_scalar(text, error)))? {
        FrameShape::Object => build_envelope(text, &members).map_err(malformed),
        FrameShape::Array(_) => Err(malformed(MessageError::new(MessageErrorKind::NoShape, 0))),
    }
}

/// Replaces the syntax error of a scalar, which is valid JSON but not a message, by [`MessageErrorKind::NoShape`].
fn reclassify_scalar(text: &str, error: MessageError) -> MessageError {
    let is_scalar =
        !text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok();
    if is_scalar { MessageError::new(MessageErrorKind::NoShape, 0) } else { error }
}

fn slice(text: &ByteString, span: &Range<usize>) -> ByteString {
    text.slice_ref(&text[span.clone()])
}

/// Classifies the message by its members and builds the envelope.
fn build_envelope(text: &ByteString, members: &MessageMembers) -> Result<Envelope, MessageError> {
    let bad = |name, span: &Range<usize>| MessageError::new(MessageErrorKind::BadMember(name), span.start);
    let raw = |span: &Range<usize>| Raw::from_checked(slice(text, span));
    let version = match &members.jsonrpc {
        Some(span) if &text[span.clone()] == "\"2.0\"" => Version::Two,
        _ => Version::Other,
    };
    // A null id counts as missing: peers write it if they could not read the id of the request.
    let id = members.id.as_ref().filter(|span| &text[(*span).clone()] != "null");
    // An invalid id differs from a missing one: the response belongs to a request that is not ours.
    let response_id = || match id {
        None => Ok(None),
        Some(span) => RequestId::from_json(&text[span.clone()]).map(Some).ok_or_else(|| bad("id", span)),
    };
    match (&members.method, &members.result, &members.error) {
        (Some(method), None, None) => {
            let method = method_name(text, method).ok_or_else(|| bad("method", method))?;
            let params = members.params.as_ref().map(raw);
            match (&members.id, id) {
                (None, _) => Ok(Envelope::Notification(Notification { method, params, version })),
                (Some(span), None) => Err(bad("id", span)),
                (_, Some(span)) => {
                    let id = RequestId::from_json(&text[span.clone()]).ok_or_else(|| bad("id", span))?;
                    let outline = members.outline;
                    Ok(Envelope::Request(Request { id, method, params, outline, version }))
                }
            }
        }
        (None, Some(result), None) => {
            let outcome = Ok(raw(result).with_member_span(members.meta.as_ref()));
            Ok(Envelope::Response(Response { id: response_id()?, outcome, version }))
        }
        (None, None, Some(error)) => Ok(Envelope::Response(Response {
            id: response_id()?,
            outcome: Err(read_error(&raw(error))),
            version,
        })),
        _ => Err(MessageError::new(MessageErrorKind::NoShape, 0)),
    }
}

/// Returns the method name, as a slice of the frame unless it contains escapes.
fn method_name(text: &ByteString, span: &Range<usize>) -> Option<ByteString> {
    let quoted = &text[span.clone()];
    if quoted.len() > MAX_METHOD_BYTES + 2 {
        return None;
    }
    Some(match decode_string(quoted)? {
        Cow::Borrowed(inner) => text.slice_ref(inner),
        Cow::Owned(unescaped) => unescaped.into(),
    })
}

#[cfg(test)]
mod tests;
