//! The console over real hosts: servers in this process and as child processes, in both eras. Every effect is checked on the
//! side of the server.
//!
//! The program is its own supervisor and, by a variable, plays a server.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking; without the usual harness clippy cannot tell"
)]

mod page;
mod workshop;

mod calls;
mod catalog;
mod events;
mod questions;
mod servers;
mod tasks;

use std::process::ExitCode;

fn main() -> ExitCode {
    switchboard_transport::stdio::run_supervisor_if_requested();
    if let Some(part) = std::env::var_os(workshop::PART) {
        workshop::play(part.to_str().unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    let trials = [
        calls::trials(),
        catalog::trials(),
        events::trials(),
        questions::trials(),
        servers::trials(),
        tasks::trials(),
    ];
    switchboard_testkit::run(trials.into_iter().flatten().collect())
}
