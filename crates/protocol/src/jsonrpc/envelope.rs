//! One JSON-RPC message: its shape found in one pass, its payload still text.
//!
//! Every entry from outside goes through [`parse`]. Member names are exact (`"Method"` is not `method`), members
//! that JSON-RPC does not define are ignored, and one that stands twice makes the message malformed.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use bytestring::ByteString;
use serde_core::de::IgnoredAny;
use switchboard_json::{Raw, decode_string};

use crate::jsonrpc::code::{RpcError, read_error};
use crate::jsonrpc::fault::{Fault, FaultKind};
use crate::jsonrpc::id::RequestId;
use crate::jsonrpc::members::{self, FrameShape, MessageMembers};
use crate::jsonrpc::meta_cache::MetaCache;
use crate::jsonrpc::outline::Outline;
use crate::jsonrpc::param_fields::ParamFields;
use crate::jsonrpc::salvage::{Salvaged, salvage};

/// The longest method name that is accepted, in bytes.
pub const MAX_METHOD_BYTES: usize = 256;

/// One JSON-RPC message.
#[derive(Debug, Clone, PartialEq)]
pub enum Envelope {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// Is one.
    Response(Response),
}

/// A message that wants an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What the answer must carry.
    pub id: RequestId,
    /// What is asked.
    pub method: ByteString,
    /// With what.
    pub params: Option<Raw>,
    /// Where the members of the parameters stand: found on the way.
    pub outline: Outline,
    /// Whether it says `"jsonrpc":"2.0"`.
    pub version: Version,
}

impl Request {
    /// The member of this name; of several the last counts.
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

    /// The text of `_meta`.
    #[inline]
    pub fn meta(&self) -> RequestMeta<'_> {
        let Some(params) = &self.params else { return RequestMeta::None };
        match self.outline.meta() {
            Some(span) => params.as_str().get(span).map_or(RequestMeta::None, RequestMeta::Text),
            None if self.outline.is_known() => RequestMeta::None,
            None => RequestMeta::Unknown,
        }
    }

    /// The members of the parameters.
    pub fn fields(&self) -> ParamFields<'_> {
        ParamFields::new(self.params.as_ref(), self.outline)
    }
}

/// What is known of the `_meta` of a request without another look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestMeta<'a> {
    /// There is none.
    None,
    /// This is its text.
    Text(&'a str),
    /// Nothing: [`Request::field`] finds out.
    Unknown,
}

/// A message that wants no answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// What happened.
    pub method: ByteString,
    /// The details.
    pub params: Option<Raw>,
    /// Whether it says `"jsonrpc":"2.0"`.
    pub version: Version,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Of which request; `None` when the peer could not read the id of what it answers.
    pub id: Option<RequestId>,
    /// What the peer said.
    pub outcome: Result<Raw, RpcError>,
    /// Whether it says `"jsonrpc":"2.0"`.
    pub version: Version,
}

/// What the member `jsonrpc` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `"2.0"`.
    Two,
    /// Nothing, or something else: clients tolerate it, servers refuse it.
    Other,
}

/// What one frame holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// One message.
    Single(Envelope),
    /// An array of messages (2025-03-26 only), each read for itself.
    Batch(Vec<Result<Envelope, Malformed>>),
}

/// A frame that is no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// What could be told of the message all the same.
    pub salvaged: Salvaged,
    /// What is wrong.
    pub fault: Fault,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a JSON-RPC message: {}", self.fault)
    }
}

impl std::error::Error for Malformed {}

impl Malformed {
    /// Whether the bytes are JSON at all: then the answer is -32600, else -32700.
    pub fn is_json(&self) -> bool {
        matches!(
            self.fault.kind(),
            FaultKind::Duplicate(_) | FaultKind::BadMember(_) | FaultKind::NoShape | FaultKind::BatchTooLong
        )
    }
}

/// Reads one frame.
///
/// # Errors
/// Says what is wrong and, where it can be found, whose id the message carries.
pub fn parse(frame: Bytes) -> Result<Message, Malformed> {
    parse_with_cache(frame, &mut MetaCache::new())
}

/// As [`parse`], for one of many frames of a connection.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_cache(frame: Bytes, meta_cache: &mut MetaCache) -> Result<Message, Malformed> {
    // Checked once for the whole frame; every slice of it is then text without another look.
    let text = match ByteString::try_from(frame.clone()) {
        Ok(text) => text,
        Err(error) => {
            let fault = Fault::new(FaultKind::NotUtf8, error.valid_up_to());
            return Err(Malformed { salvaged: salvage(&frame), fault });
        }
    };
    let malformed = |fault| Malformed { salvaged: salvage(text.as_bytes()), fault };
    let mut members = MessageMembers::default();
    let shape = members::scan_frame(text.as_bytes(), 0, &mut members, meta_cache);
    match shape.map_err(|fault| malformed(reclassify_scalar(&text, fault)))? {
        FrameShape::Object => build_envelope(&text, &members).map(Message::Single).map_err(malformed),
        FrameShape::Array(elements) => Ok(Message::Batch(
            elements.into_iter().map(|span| parse_batch_element(&slice(&text, &span))).collect(),
        )),
    }
}

/// Reads one element of a batch.
fn parse_batch_element(text: &ByteString) -> Result<Envelope, Malformed> {
    let malformed = |fault| Malformed { salvaged: salvage(text.as_bytes()), fault };
    let mut members = MessageMembers::default();
    let shape = members::scan_frame(text.as_bytes(), 1, &mut members, &mut MetaCache::new());
    match shape.map_err(|fault| malformed(reclassify_scalar(text, fault)))? {
        FrameShape::Object => build_envelope(text, &members).map_err(malformed),
        FrameShape::Array(_) => Err(malformed(Fault::new(FaultKind::NoShape, 0))),
    }
}

/// A lone string or number is JSON, and only no message.
fn reclassify_scalar(text: &str, fault: Fault) -> Fault {
    let is_scalar =
        !text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok();
    if is_scalar { Fault::new(FaultKind::NoShape, 0) } else { fault }
}

fn slice(text: &ByteString, span: &Range<usize>) -> ByteString {
    text.slice_ref(&text[span.clone()])
}

fn build_envelope(text: &ByteString, members: &MessageMembers) -> Result<Envelope, Fault> {
    let bad = |name, span: &Range<usize>| Fault::new(FaultKind::BadMember(name), span.start);
    let raw = |span: &Range<usize>| Raw::from_checked(slice(text, span));
    let version = match &members.jsonrpc {
        Some(span) if &text[span.clone()] == "\"2.0\"" => Version::Two,
        _ => Version::Other,
    };
    // An id of null is no id: peers write it when they could not read ours.
    let id = members.id.as_ref().filter(|span| &text[(*span).clone()] != "null");
    // An id that is there and cannot be ours is not the same as none: it says that the answer is for somebody else.
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
        _ => Err(Fault::new(FaultKind::NoShape, 0)),
    }
}

/// A method name; a slice of the frame unless it was written with escapes.
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
