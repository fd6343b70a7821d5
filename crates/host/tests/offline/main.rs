//! The parts of the host that need no server: configured servers, permissions, schemas.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod config_entry;
mod permission;
mod profile;
mod watch;
