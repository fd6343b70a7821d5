//! What a typed client declares when it opens a session.

use switchboard_protocol::Raw;
use switchboard_session::Client;

use crate::wire::{EVENTS_EXTENSION, STREAM_EXTENSION};

/// A client whose sessions hear all that a service of this framework says: the events of streaming tools, and those of
/// the service itself. Any other session serves a typed client too, only without them.
///
/// ```
/// let client = switchboard_server::client::client().with_name("reviewer", "1.0.0");
/// # let _ = client;
/// ```
pub fn client() -> Client {
    Client::new()
        .with_extension(STREAM_EXTENSION, Raw::empty_object())
        .with_extension(EVENTS_EXTENSION, Raw::empty_object())
}
