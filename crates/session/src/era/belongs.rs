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

/// The id of the request this note belongs to, where it says so. The progress token of a call is its id. A
/// cancellation may name a request of ours (a listener) or one of the server's own: the table tells.
pub(crate) fn belongs(note: &Note) -> Option<RequestId> {
    let tokens: Tokens = note.params.as_ref()?.decode().ok()?;
    match &*note.method {
        "notifications/progress" => tokens.progress_token,
        "notifications/cancelled" => tokens.request_id,
        _ => tokens.meta?.id,
    }
}
