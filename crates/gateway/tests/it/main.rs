//! The gateway as clients see it: every era on either side, upstreams in this process, as child processes and over HTTP.
//!
//! The program is its own supervisor and, by a variable, plays an upstream server.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking; without the usual harness clippy cannot tell"
)]

mod cells;
mod person;
mod raw_client;
mod shop;
mod upstream;

mod access;
mod calls;
mod changes;
mod faults;
mod lists;
mod parked;
mod questions;
mod view_endpoints;
mod view_results;
mod views;

use std::process::ExitCode;

use switchboard_testkit::Trial;

fn main() -> ExitCode {
    switchboard_transport::stdio::run_supervisor_if_requested();
    if let Some(part) = std::env::var_os(upstream::PART) {
        upstream::play(part.to_str().unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    let trials: Vec<Trial> = [
        access::trials(),
        calls::trials(),
        changes::trials(),
        faults::trials(),
        lists::trials(),
        parked::trials(),
        questions::trials(),
        view_endpoints::trials(),
        view_results::trials(),
        views::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
    switchboard_testkit::run(trials)
}
