//! Serves __package__: `__package__ serve --stdio`, `__package__ serve --http 127.0.0.1:8080`, `__package__ --help`.
//!
//! Written once by `switchboard new`; it is yours.

use std::process::ExitCode;

use __crate__::__Trait__Server;
use __crate__::in_memory::InMemory;

#[tokio::main]
async fn main() -> ExitCode {
    __Trait__Server::builder(InMemory::default()).serve_cli().await
}
