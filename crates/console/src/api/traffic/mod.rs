//! Traffic: frames, payloads, recordings.

mod routes;

pub(super) use routes::routes;
