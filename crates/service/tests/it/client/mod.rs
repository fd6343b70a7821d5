//! A service from the client side: its typed client, and its plain endpoint.

mod events;
mod one_trait;
mod repair;
mod repair_closures;
#[cfg(feature = "rpc")]
mod rpc;
#[cfg(feature = "rpc")]
mod rpc_client;
mod sample;
mod sessions;
mod streams;
mod typed;
