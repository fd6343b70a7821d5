//! Integration tests.

mod issuer;
mod resource_server;
