//! The extensions that a client session declares.

use switchboard_protocol::Raw;
use switchboard_session::Client;

use crate::wire::{EVENTS_EXTENSION, STREAM_EXTENSION};

/// Creates a client whose sessions declare both extensions of this framework: stream items as notifications, and
/// events of the service. A typed client declares the first itself, for each call of a streaming tool, over any
/// session; untyped calls ([`ClientSession::call_tool`](switchboard_session::ClientSession::call_tool)) over a
/// session of this client get stream items as notifications instead of in the result.
///
/// ```
/// let client = switchboard::service::client::client().with_name("reviewer", "1.0.0");
/// # let _ = client;
/// ```
pub fn client() -> Client {
    Client::new()
        .with_extension(STREAM_EXTENSION, Raw::empty_object())
        .with_extension(EVENTS_EXTENSION, Raw::empty_object())
}
