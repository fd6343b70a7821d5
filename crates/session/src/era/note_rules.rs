//! MCP's rules for notifications, for the mux, which knows no method.
//!
//! A notification belongs to an exchange: progress by its token, notifications of a listen stream by the subscription id,
//! notifications of an extension by `requestId`.

use std::sync::Arc;

use switchboard_protocol::{Meta, Raw, RequestId, surface};

use crate::link::{InboundNotification, Pipe};
use crate::mux::{CancelNote, ConnectionLimits, MuxLink, NoteClass, NoteKind, NoteOwner, NoteRules};

/// The ids in a notification.
#[derive(Default)]
struct Tokens {
    progress: Option<RequestId>,
    request: Option<RequestId>,
    subscription: Option<RequestId>,
}

impl Tokens {
    fn read(params: &Raw) -> Self {
        let mut tokens = Self::default();
        for (name, value) in params.fields() {
            match name.as_bytes() {
                b"progressToken" => tokens.progress = RequestId::from_json(value.as_str()),
                b"requestId" => tokens.request = RequestId::from_json(value.as_str()),
                b"_meta" => {
                    let id = value.field_texts().find(|(name, _)| *name == Meta::SUBSCRIPTION_ID);
                    tokens.subscription = id.and_then(|(_, id)| RequestId::from_json(id));
                }
                _ => {}
            }
        }
        tokens
    }
}

/// MCP's rules for notifications.
pub(crate) const NOTE_RULES: NoteRules = NoteRules { classify, cancel };

impl MuxLink {
    /// Starts the reading and the writing task of a pipe on the current runtime.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(pipe: Pipe, limits: ConnectionLimits) -> Arc<Self> {
        Self::start_with(pipe, limits, NOTE_RULES)
    }
}

/// Classifies a notification: of progress only the latest is kept, of everything else all.
fn classify(note: &InboundNotification) -> NoteClass {
    let kind = match &*note.method {
        "notifications/progress" => NoteKind::LatestOnly,
        "notifications/cancelled" => NoteKind::EndsListener,
        _ => NoteKind::Ordered,
    };
    NoteClass { owner: owner(note, kind), kind }
}

/// Returns the owner of a notification. The progress token of a call is its id.
fn owner(note: &InboundNotification, kind: NoteKind) -> NoteOwner {
    let Some(params) = &note.params else { return NoteOwner::All };
    let Tokens { progress, request, subscription } = Tokens::read(params);
    if &*note.method == "notifications/message" && subscription.is_none() {
        return NoteOwner::ObservedByCall;
    }
    let request = match kind {
        NoteKind::LatestOnly => progress,
        NoteKind::EndsListener if subscription.is_none() => {
            return request.map_or(NoteOwner::All, NoteOwner::Listener);
        }
        _ => subscription.or_else(|| request.filter(|_| is_extension_note(&note.method))),
    };
    request.map_or(NoteOwner::All, NoteOwner::Request)
}

/// Creates the notification that cancels a request.
fn cancel(id: &RequestId) -> CancelNote {
    let mut params = br#"{"requestId":"#.to_vec();
    id.write_json(&mut params);
    params.extend_from_slice(br#","reason":"the caller no longer waits"}"#);
    CancelNote { method: "notifications/cancelled", params }
}

/// Returns whether a notification belongs to an extension: no revision defines it.
pub(crate) fn is_extension_note(method: &str) -> bool {
    surface::find(method).next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(method: &str, params: &str) -> NoteOwner {
        let params = Raw::parse(params.to_owned()).unwrap();
        classify(&InboundNotification { method: method.to_owned().into(), params: Some(params) }).owner
    }

    #[test]
    fn a_notification_of_an_extension_belongs_to_its_request() {
        let seven = RequestId::Number(7);
        assert_eq!(
            owner("notifications/com.example/event", r#"{"requestId":7}"#),
            NoteOwner::Request(seven.clone())
        );
        assert_eq!(owner("notifications/com.example/event", r#"{"seq":7}"#), NoteOwner::All);
        // Notifications of the specification do not use `requestId` for that.
        assert_eq!(owner("notifications/resources/updated", r#"{"requestId":7}"#), NoteOwner::All);
        assert_eq!(owner("notifications/message", r#"{"requestId":7}"#), NoteOwner::ObservedByCall);
        assert_eq!(owner("notifications/progress", r#"{"progressToken":7}"#), NoteOwner::Request(seven));
    }
}
