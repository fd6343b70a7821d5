//! A service from the outside: its typed client, and its plain endpoint.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub, reason = "tests")]

mod bench;
#[allow(dead_code, reason = "the contract has more than is used here")]
#[path = "../by_hand.rs"]
mod by_hand;
mod events;
mod open;
mod repair;
#[cfg(feature = "rpc")]
mod rpc;
#[cfg(feature = "rpc")]
mod rpc_client;
mod same;
mod streams;
mod typed;
