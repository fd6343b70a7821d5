//! The legacy era (2024-11-05 to 2025-11-25): a session opened by a handshake, in which both sides may ask.

mod client;
mod server;

pub(crate) use client::{Client, Shaken, dress, handshake, is_modern_name, settle, supported, welcome};
pub use server::Session;
pub(crate) use server::initialize;
