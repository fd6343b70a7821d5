//! Tokens between processes (stored in files, refreshed once, taken over, kept when a process is killed), and services that
//! verify tokens.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod authorization_server;
mod bound_tokens;
mod client;
mod file_store;
mod issuer;
mod issuer_move;
mod killed_process;
mod protected_service;
mod provider_tokens;
mod refresh_failures;
mod refresh_races;
mod resource_server;
mod token_adoption;
mod worker;
