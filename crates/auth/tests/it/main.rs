//! Integration tests.
#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod issuer;
mod protected_service;
mod resource_server;
