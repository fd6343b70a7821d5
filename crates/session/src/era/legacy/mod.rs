//! The legacy era (2024-11-05 to 2025-11-25): a session opened by a handshake, in which both sides send requests.

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod session_clock;

#[cfg(feature = "client")]
pub(crate) use client::{
    HandshakeOutcome, LegacyClient, classify_result, handshake, send_initialized, supported_revisions,
};
#[cfg(feature = "server")]
pub use server::Session;
#[cfg(feature = "server")]
pub(crate) use server::initialize;
