//! Encoding and decoding of server-sent events: many messages in one HTTP body.

mod decode;
mod encode;

pub use decode::{DEFAULT_EVENT_LIMIT, Decoder, LostEvent, SseEvent, SseItem};
pub use encode::{EventEncodeError, EventFields, encode_comment, encode_event};
