//! The parts of the host that need no server: files, names, permissions, schemas.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod config_entry;
mod config_files;
mod import;
mod names;
mod permission;
mod profile;
