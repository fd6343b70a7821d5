//! A client and a server of this crate, talking to each other in one process.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod callers;
mod layers;
mod notes;
mod opening;
mod traffic;
