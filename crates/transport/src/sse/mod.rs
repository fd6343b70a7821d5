//! Event streams: many messages in one HTTP body.

mod codec;
mod print;

pub use codec::{DEFAULT_EVENT_LIMIT, Decoder, Event, Item, Lost};
pub use print::{Outgoing, Unprintable, print, print_comment};
