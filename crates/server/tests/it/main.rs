//! The server half, seen from a client: both eras, through a service written by hand.

#![allow(clippy::unwrap_used, reason = "a test")]

mod errors;
mod lists;
mod logging;
mod prompts;
mod resources;
mod stage;
mod tools;
