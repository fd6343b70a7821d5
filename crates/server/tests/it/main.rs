//! The server half, seen from a client: both eras, through a service written by hand.

#![allow(clippy::unwrap_used, reason = "a test")]

mod asking;
mod callers;
mod cancelling;
mod composing;
mod errors;
mod events;
mod lists;
mod logging;
mod prompts;
mod resources;
mod stage;
mod streaming;
mod tasking;
mod tools;
mod watching;
#[cfg(all(feature = "http", feature = "stdio"))]
mod ways;
