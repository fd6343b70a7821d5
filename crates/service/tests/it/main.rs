//! The server half, seen from a client: both eras, through a service written by hand.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub, reason = "tests")]

mod asking;
#[allow(dead_code, reason = "the contract has more than is used here")]
mod by_hand;
mod callers;
mod cancelling;
mod client;
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
mod tasks;
mod tools;
mod watching;
#[cfg(all(feature = "http", feature = "stdio"))]
mod ways;
