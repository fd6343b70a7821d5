//! Integration tests.

mod authorization_server;
mod client;
mod file_store;
mod killed_process;
mod refresh_failures;
mod refresh_races;
mod token_adoption;
mod worker;
