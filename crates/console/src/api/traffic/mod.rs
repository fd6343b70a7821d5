//! Traffic: frames, payloads, recordings.

mod handlers;
mod publish_frames;
mod routes;

pub(super) use publish_frames::publish_frames;
pub(super) use routes::routes;
