//! Integration tests.

mod issuer;
mod protected_service;
mod resource_server;
