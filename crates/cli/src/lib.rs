//! The `switchboard` command: inspects, calls and serves MCP servers from a terminal.
//!
//! ```text
//!   args ─▶ command/* ─▶ connect ─▶ a session ─▶ output: text for people, or the protocol's JSON
//!                            ├─ elicitation (questions of the server), trace (its messages)
//!                            ├─ remote (a server at a URL), header_helper (its headers), observed_dial (its messages)
//!                            ├─ login (stored OAuth tokens, and the login itself)
//!                            └─ expand (variables in arguments)
//!                     ├▶ configured_servers ─▶ a host with the servers of the configuration files
//!                     ├▶ console ─▶ a host that keeps running, and the page that shows it
//!                     ├▶ gateway ─▶ a host behind listeners, reloaded and drained
//!                     └▶ scaffold: new service projects; `design` and `quickstart` read their designs
//! ```
//!
//! Invariant: server text reaches the terminal only through `sanitize`.
//!
//! A library, so that it is compiled beside the libraries it needs instead of after them; `main.rs` only calls [`main`].

mod args;
mod command;
mod configured_servers;
mod connect;
mod console;
mod demo;
mod doctor;
mod elicitation;
mod environment;
mod error;
mod expand;
mod gateway;
mod http_server;
mod login;
mod nearest;
mod observed_dial;
mod output;
mod plan;
mod processes;
mod provider_advice;
mod remote;
mod scaffold;
mod session_recorder;
mod shell_quote;
mod signals;
#[cfg(feature = "otel")]
mod telemetry;
mod tool_arguments;
mod trace;

use std::process::ExitCode;

use switchboard_terminal::sanitize;

/// Runs the command with the arguments of this process. Call it before any thread is started.
pub fn main() -> ExitCode {
    // First: this process may have been started as the supervisor of a server.
    switchboard::run_supervisor_if_requested();
    let command = match args::parse() {
        Ok(command) => command,
        Err(code) => return code,
    };
    let format = command.error_format();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return error::CommandError::from(error).report(format),
    };
    let done = runtime.block_on(command::run(command));
    // Does not wait: a thread may still block on reading standard input.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(format),
    }
}
