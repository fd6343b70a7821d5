//! A service from the outside: its typed client, and its plain endpoint.

mod bench;
mod events;
mod open;
mod repair;
mod repair_closures;
#[cfg(feature = "rpc")]
mod rpc;
#[cfg(feature = "rpc")]
mod rpc_client;
mod same;
mod streams;
mod typed;
