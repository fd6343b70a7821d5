//! Real sockets on this machine: one file for each thing that can go wrong.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in what stands around it")]

mod address_policy;
mod authorize;
mod body;
mod connect;
mod h2;
mod pool;
mod proxy;
mod redirect;
mod requests;
mod tls;
