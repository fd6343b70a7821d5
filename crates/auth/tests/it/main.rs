//! Tokens between processes: stored in files, refreshed once, taken over, and kept when a process is killed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod authorization_server;
mod client;
mod file_store;
mod killed_process;
mod refresh_failures;
mod refresh_races;
mod token_adoption;
mod worker;
