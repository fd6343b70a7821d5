//! Which exchange a notification belongs to: progress by its token, what a listener hears by its subscription.

use serde::Deserialize;
use switchboard_protocol::RequestId;

use crate::link::Note;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    progress_token: Option<RequestId>,
    request_id: Option<RequestId>,
    #[serde(rename = "_meta")]
    meta: Option<Subscription>,
}

#[derive(Deserialize)]
struct Subscription {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    id: Option<RequestId>,
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
    let Some(Ok(tokens)) = note.params.as_ref().map(|params| params.decode::<Tokens>()) else {
        return Whose::All;
    };
    let subscription = tokens.meta.and_then(|meta| meta.id);
    let request = match &*note.method {
        "notifications/progress" => tokens.progress_token,
        "notifications/cancelled" if subscription.is_none() => {
            return tokens.request_id.map_or(Whose::All, Whose::Listener);
        }
        _ => subscription,
    };
    request.map_or(Whose::All, Whose::Request)
}
