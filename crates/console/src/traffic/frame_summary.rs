//! What a frame is about: read from the message once, when it is observed or when a recording is opened.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use switchboard_session::link::FrameBody;

use crate::contract::{FrameKind, FrameStatus};

/// Longer targets are cut.
const MAX_TARGET_CHARS: usize = 120;

/// What a frame is about, except for what its request says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FrameSummary {
    pub(super) kind: FrameKind,
    /// Of a response: empty if its request is not known.
    pub(super) method: String,
    pub(super) target: Option<String>,
    /// As JSON text.
    pub(super) id: Option<String>,
    pub(super) status: Option<FrameStatus>,
    /// Whether it was on the wire: a cancellation and a failure were not.
    pub(super) is_on_wire: bool,
}

impl FrameSummary {
    /// Reads an observed frame.
    pub(super) fn of(body: &FrameBody<'_>) -> Self {
        let id_text = |id| serde_json::to_string(id).ok();
        match body {
            FrameBody::Request { id, method, params } => {
                Self::call(FrameKind::Request, method, params.and_then(read_target), id_text(id))
            }
            FrameBody::Notification { method, params } => {
                Self::call(FrameKind::Notification, method, params.and_then(read_target), None)
            }
            FrameBody::Response { id, method, outcome } => {
                let status = outcome.map_or(FrameStatus::Error, |result| result_status(result.as_str()));
                Self::end(method, id_text(id), status)
            }
            FrameBody::Cancelled { id, method } => {
                Self { is_on_wire: false, ..Self::end(method, id_text(id), FrameStatus::Cancelled) }
            }
            FrameBody::Failed { request: Some((id, method)), .. } => {
                Self { is_on_wire: false, ..Self::end(method, id_text(id), FrameStatus::Error) }
            }
            FrameBody::Failed { request: None, .. } => {
                Self { is_on_wire: false, status: Some(FrameStatus::Error), ..Self::invalid() }
            }
            _ => Self::invalid(),
        }
    }

    /// Reads the text of a frame.
    pub(super) fn parse(text: &str) -> Self {
        let Ok(message) = serde_json::from_str::<MessageOutline<'_>>(text) else { return Self::invalid() };
        let id = message.id.map(|id| id.get().to_owned());
        match (message.method, message.result, message.error) {
            (Some(method), ..) => {
                let kind = if id.is_some() { FrameKind::Request } else { FrameKind::Notification };
                let target = message.params.and_then(|params| read_target(params.get()));
                Self::call(kind, &method, target, id)
            }
            (None, Some(result), _) => Self::end("", id, result_status(result.get())),
            (None, None, Some(_)) => Self::end("", id, FrameStatus::Error),
            (None, None, None) => Self::invalid(),
        }
    }

    fn call(kind: FrameKind, method: &str, target: Option<String>, id: Option<String>) -> Self {
        Self { kind, method: method.to_owned(), target, id, status: None, is_on_wire: true }
    }

    fn end(method: &str, id: Option<String>, status: FrameStatus) -> Self {
        Self {
            kind: FrameKind::Response,
            method: method.to_owned(),
            target: None,
            id,
            status: Some(status),
            is_on_wire: true,
        }
    }

    fn invalid() -> Self {
        Self {
            kind: FrameKind::Invalid,
            method: String::new(),
            target: None,
            id: None,
            status: None,
            is_on_wire: true,
        }
    }
}

/// The members of a message.
#[derive(Deserialize)]
struct MessageOutline<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// The members of parameters that may name what they are about.
#[derive(Deserialize)]
struct TargetMembers<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, rename = "taskId")]
    task_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "ref")]
    reference: Option<&'a RawValue>,
}

/// Returns the tool, prompt, URI or task that a message is about.
fn read_target(params: &str) -> Option<String> {
    let members: TargetMembers<'_> = serde_json::from_str(params).ok()?;
    let text = |value: Option<&RawValue>| serde_json::from_str::<String>(value?.get()).ok();
    let named = text(members.name).or_else(|| text(members.uri)).or_else(|| text(members.task_id));
    let target = named.or_else(|| {
        let reference: TargetMembers<'_> = serde_json::from_str(members.reference?.get()).ok()?;
        text(reference.name).or_else(|| text(reference.uri))
    })?;
    Some(match target.char_indices().nth(MAX_TARGET_CHARS) {
        Some((end, _)) => target[..end].to_owned(),
        None => target,
    })
}

/// The members of a result that say what it is.
#[derive(Deserialize)]
struct ResultMembers<'a> {
    #[serde(borrow, rename = "isError")]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, rename = "resultType")]
    result_type: Option<&'a RawValue>,
}

fn result_status(result: &str) -> FrameStatus {
    let Ok(members) = serde_json::from_str::<ResultMembers<'_>>(result) else { return FrameStatus::Ok };
    if members.result_type.is_some_and(|kind| kind.get() == "\"input_required\"") {
        FrameStatus::InputRequired
    } else if members.is_error.is_some_and(|flag| flag.get() == "true") {
        FrameStatus::ToolError
    } else {
        FrameStatus::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_described_by_its_members() {
        let parsed = |text: &str| {
            let summary = FrameSummary::parse(text);
            (summary.kind, summary.method, summary.target, summary.id, summary.status)
        };
        let some = |text: &str| Some(text.to_owned());
        use FrameKind::{Invalid, Notification, Request, Response};
        for (text, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"name":"add","arguments":{"name":1}}}"#,
                (Request, "tools/call".to_owned(), some("add"), some("\"7\""), None),
            ),
            (
                r#"{"method":"completion/complete","id":1,"params":{"ref":{"type":"ref/resource","uri":"a://{b}"}}}"#,
                (Request, "completion/complete".to_owned(), some("a://{b}"), some("1"), None),
            ),
            (
                r#"{"method":"notifications/resources/updated","params":{"uri":"a://b"}}"#,
                (Notification, "notifications/resources/updated".to_owned(), some("a://b"), None, None),
            ),
            (
                r#"{"id":1,"result":{"content":[],"isError":true}}"#,
                (Response, String::new(), None, some("1"), Some(FrameStatus::ToolError)),
            ),
            (
                r#"{"id":1,"result":{"resultType":"input_required","inputRequests":{}}}"#,
                (Response, String::new(), None, some("1"), Some(FrameStatus::InputRequired)),
            ),
            (
                r#"{"id":null,"error":{"code":-32700,"message":"?"}}"#,
                (Response, String::new(), None, None, Some(FrameStatus::Error)),
            ),
            ("listening", (Invalid, String::new(), None, None, None)),
            ("[]", (Invalid, String::new(), None, None, None)),
        ] {
            assert_eq!(parsed(text), expected, "{text}");
        }
        let long = format!(r#"{{"method":"x","params":{{"name":"{}"}}}}"#, "é".repeat(500));
        assert_eq!(FrameSummary::parse(&long).target, Some("é".repeat(MAX_TARGET_CHARS)));
    }
}
