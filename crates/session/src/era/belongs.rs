//! Which exchange a notification belongs to: progress by its token, what a listener hears by its subscription, what an
//! extension says about a request by the id of that.

use switchboard_protocol::{Meta, Raw, RequestId, surface};

use crate::link::Note;

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

/// Whose a note is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Of the request with this id, and of nobody if that is over.
    Request(RequestId),
    /// Of the listener with this id if there is one. Otherwise the id is the server's own, and the note is for all.
    Listener(RequestId),
    /// Of no request.
    All,
}

/// Says whose a note is. The progress token of a call is its id.
pub(crate) fn belongs(note: &Note) -> Whose {
    let Some(params) = &note.params else { return Whose::All };
    let Tokens { progress, request, subscription } = Tokens::read(params);
    let request = match &*note.method {
        "notifications/progress" => progress,
        "notifications/cancelled" if subscription.is_none() => {
            return request.map_or(Whose::All, Whose::Listener);
        }
        method => subscription.or_else(|| request.filter(|_| is_extension_note(method))),
    };
    request.map_or(Whose::All, Whose::Request)
}

/// Whether a notification is one of an extension: no revision has a word for it.
pub(crate) fn is_extension_note(method: &str) -> bool {
    surface::find(method).next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whose(method: &str, params: &str) -> Whose {
        let params = Raw::parse(params.to_owned()).unwrap();
        belongs(&Note { method: method.to_owned().into(), params: Some(params) })
    }

    #[test]
    fn what_an_extension_says_about_a_request_is_that_requests() {
        let seven = RequestId::Number(7);
        assert_eq!(
            whose("notifications/com.example/event", r#"{"requestId":7}"#),
            Whose::Request(seven.clone())
        );
        assert_eq!(whose("notifications/com.example/event", r#"{"seq":7}"#), Whose::All);
        // The words of the specification keep their own way to say it.
        assert_eq!(whose("notifications/message", r#"{"requestId":7}"#), Whose::All);
        assert_eq!(whose("notifications/progress", r#"{"progressToken":7}"#), Whose::Request(seven));
    }
}
