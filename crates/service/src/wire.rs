//! The words of our own extensions, as both halves write them.
//!
//! A peer that did not declare an extension never sees a word of it.

/// Declared by a client that wants the items of streaming tools one by one: as a capability, or for one call as a key in
/// its `_meta`. Without it they are in the result.
pub const STREAM_EXTENSION: &str = "dev.switchboard/stream";

/// Carries one event of a streaming tool: [`StreamNote`].
pub const STREAM_NOTE: &str = "notifications/dev.switchboard/stream";

/// Declared by a server whose design has events of its own.
pub const EVENTS_EXTENSION: &str = "dev.switchboard/events";

/// The request that is answered only when the client cancels it; meanwhile every event is told.
pub const EVENTS_METHOD: &str = "events/stream";

/// Carries one event of a service: [`EventNote`].
pub const EVENT_NOTE: &str = "notifications/dev.switchboard/event";

/// Before the name of an event that a client sends, where the server accepts that.
pub const NOTIFY_PREFIX: &str = "notify_";

use serde::{Deserialize, Serialize};
use switchboard_protocol::{Content, Raw, RequestId};

/// One event of a streaming tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamNote {
    /// The call it belongs to, by the id the client gave it.
    pub request_id: RequestId,
    /// Its place among the events of the call, from 0.
    pub seq: u64,
    /// What it holds.
    pub content: Vec<Content>,
}

/// One event of a service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventNote {
    /// The `events/stream` it is an answer to, by the id the client gave it.
    pub request_id: RequestId,
    /// Its name in the design.
    pub name: String,
    /// Its place among the events of this listener, from 0; those that were lost are counted.
    pub seq: u64,
    /// What it carries.
    pub data: Raw,
    /// How many events before it this listener was too slow for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
