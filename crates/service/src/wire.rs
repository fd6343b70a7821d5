//! Names and messages of this framework's protocol extensions.
//!
//! They are sent only to a peer that declared the extension.

/// Declared by a client that wants stream items as notifications: as a capability, or for one call as a key in its
/// `_meta`. Otherwise they are part of the result.
pub const STREAM_EXTENSION: &str = "dev.switchboard/stream";

/// Notification with one event of a streaming tool: [`StreamNotification`].
pub const STREAM_NOTIFICATION: &str = "notifications/dev.switchboard/stream";

/// Declared by a server whose design has events.
pub const EVENTS_EXTENSION: &str = "dev.switchboard/events";

/// Request that subscribes to the service's events. It is answered only when the client cancels it or the server ends
/// it.
pub const EVENTS_METHOD: &str = "events/stream";

/// Notification with one event of a service: [`EventNotification`].
pub const EVENT_NOTIFICATION: &str = "notifications/dev.switchboard/event";

/// Prefix of the method with which a client publishes an event, where the server accepts that.
pub const NOTIFY_PREFIX: &str = "notify_";

use serde::{Deserialize, Serialize};
use switchboard_protocol::{Content, Raw, RequestId};

/// One event of a streaming tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamNotification {
    /// The request id of the call.
    pub request_id: RequestId,
    /// Sequence number within the call, from 0.
    pub seq: u64,
    /// The content items of the event.
    pub content: Vec<Content>,
}

/// One event of a service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventNotification {
    /// The request id of the `events/stream` request.
    pub request_id: RequestId,
    /// The event's name in the design.
    pub name: String,
    /// Sequence number for this listener, from 0; includes lost events.
    pub seq: u64,
    /// The payload.
    pub data: Raw,
    /// Number of events lost immediately before this one because the listener was too slow.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
