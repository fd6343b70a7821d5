//! Calls __package__ from a shell: `__package__-cli --url http://127.0.0.1:8080/mcp find-notes --query Oslo`.
//!
//! Written once by `switchboard new`; it is yours.

use std::process::ExitCode;

fn main() -> ExitCode {
    // First of all: this process may be the one that looks after a server started with `--stdio`.
    switchboard::run_supervisor_if_requested();
    run()
}

#[tokio::main(flavor = "current_thread")]
async fn run() -> ExitCode {
    __crate__::__Trait__Cli::run().await
}
