//! Replay: a server that answers as a recorded one did, to clients of either era.

mod capabilities;
mod follow_ups;
mod handler;
mod result;
mod server;

pub use server::{ReplayError, ReplayServer};
