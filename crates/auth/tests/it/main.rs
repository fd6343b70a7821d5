//! Tokens between processes (stored in files, refreshed once, taken over, kept when a process is killed), and services that
//! verify tokens.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod assertions;
mod authorization_server;
mod bound_tokens;
mod breakage;
mod client;
mod device;
mod discovery;
mod falsified_answers;
mod file_store;
mod inner_addresses;
mod issuer;
mod issuer_move;
mod killed_process;
mod logins;
mod protected_service;
mod provider_shapes;
mod provider_tokens;
mod refresh_failures;
mod refresh_races;
mod resource_server;
mod scripted_login;
mod scripted_server;
mod token_adoption;
mod token_answers;
mod warnings;
mod worker;
