//! MCP's rules for the notifications on a pipe, for the mux, which knows no method.
//!
//! Which exchange a notification belongs to: progress by its token, what a listener hears by its subscription, what an
//! extension says about a request by the id of that.

use std::sync::Arc;

use switchboard_protocol::{Meta, Raw, RequestId, surface};

use crate::link::{Note, Pipe};
use crate::mux::{CancelNote, ConnectionLimits, MuxLink, NoteClass, NoteKind, NoteOwner, NoteRules};

/// The ids a note names.
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
                    let id = value.glance().find(|(name, _)| *name == Meta::SUBSCRIPTION_ID);
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
    /// Starts the two tasks of a pipe on the current runtime.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(pipe: Pipe, limits: ConnectionLimits) -> Arc<Self> {
        Self::start_with(pipe, limits, NOTE_RULES)
    }
}

/// Of its progress a call wants the latest word; of everything else every word.
fn classify(note: &Note) -> NoteClass {
    let kind = match &*note.method {
        "notifications/progress" => NoteKind::LatestOnly,
        "notifications/cancelled" => NoteKind::EndsListener,
        _ => NoteKind::Ordered,
    };
    NoteClass { owner: owner(note, kind), kind }
}

/// Says whose a note is. The progress token of a call is its id.
fn owner(note: &Note, kind: NoteKind) -> NoteOwner {
    let Some(params) = &note.params else { return NoteOwner::All };
    let Tokens { progress, request, subscription } = Tokens::read(params);
    let request = match kind {
        NoteKind::LatestOnly => progress,
        NoteKind::EndsListener if subscription.is_none() => {
            return request.map_or(NoteOwner::All, NoteOwner::Listener);
        }
        _ => subscription.or_else(|| request.filter(|_| is_extension_note(&note.method))),
    };
    request.map_or(NoteOwner::All, NoteOwner::Request)
}

/// The notification that cancels a request.
fn cancel(id: &RequestId) -> CancelNote {
    let mut params = br#"{"requestId":"#.to_vec();
    id.write_json(&mut params);
    params.extend_from_slice(br#","reason":"the caller no longer waits"}"#);
    CancelNote { method: "notifications/cancelled", params }
}

/// Whether a notification is one of an extension: no revision has a word for it.
pub(crate) fn is_extension_note(method: &str) -> bool {
    surface::find(method).next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(method: &str, params: &str) -> NoteOwner {
        let params = Raw::parse(params.to_owned()).unwrap();
        classify(&Note { method: method.to_owned().into(), params: Some(params) }).owner
    }

    #[test]
    fn what_an_extension_says_about_a_request_is_that_requests() {
        let seven = RequestId::Number(7);
        assert_eq!(
            owner("notifications/com.example/event", r#"{"requestId":7}"#),
            NoteOwner::Request(seven.clone())
        );
        assert_eq!(owner("notifications/com.example/event", r#"{"seq":7}"#), NoteOwner::All);
        // The words of the specification keep their own way to say it.
        assert_eq!(owner("notifications/message", r#"{"requestId":7}"#), NoteOwner::All);
        assert_eq!(owner("notifications/progress", r#"{"progressToken":7}"#), NoteOwner::Request(seven));
    }
}
