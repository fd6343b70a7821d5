//! What a typed client declares when it opens a session.

use switchboard_protocol::Raw;
use switchboard_session::Client;

use crate::wire::{EVENTS_EXTENSION, STREAM_EXTENSION};

/// A client whose sessions declare both extensions of this framework: the items of streaming tools one by one, and the
/// events of the service itself. A typed client declares the first by itself, for each call of a streaming tool, over any
/// session; calls without types ([`ClientSession::call_tool`](switchboard_session::ClientSession::call_tool)) over a
/// session of this client get the items as notifications instead of in the result.
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
