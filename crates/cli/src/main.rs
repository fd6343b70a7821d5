//! The `switchboard` command: look at MCP servers, call them, and be one, from a terminal.
//!
//! ```text
//!   args ─▶ command/* ─▶ connect ─▶ a session ─▶ output (people) or the specification's own JSON
//!                            ├─ ask (questions of the server), trace (its traffic)
//!                            ├─ remote (a server at an address), header_program (its headers), watched (its messages)
//!                            └─ expand (variables of the command line)
//!                     ├▶ configured ─▶ a host with the servers of the files
//!                     └▶ scaffold: new projects of services; `design` and `quickstart` read their designs
//! ```
//!
//! Invariant: text a server wrote reaches the terminal through [`sanitize`] only.

mod args;
mod arguments;
mod ask;
mod command;
mod configured;
mod connect;
mod demo;
mod doctor;
mod environment;
mod expand;
mod failure;
mod header_program;
mod nearest;
mod output;
mod processes;
mod remote;
mod scaffold;
mod signals;
#[cfg(feature = "otel")]
mod telemetry;
mod trace;
mod watched;

use std::process::ExitCode;

use switchboard_terminal::sanitize;

fn main() -> ExitCode {
    // First of all: this process may be the one that looks after a server.
    switchboard::run_supervisor_if_requested();
    let command = match args::read() {
        Ok(command) => command,
        Err(code) => return code,
    };
    let style = command.error_style();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failure::Failure::from(error).tell(style),
    };
    let done = runtime.block_on(command::run(command));
    // Not waited for: a thread may still be reading a line that nobody will type.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.tell(style),
    }
}
