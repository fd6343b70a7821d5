//! The gateway as clients see it: every era on either side, upstreams in this process, as child processes and over HTTP.
//!
//! The program is its own supervisor and, by a variable, plays an upstream server.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking; without the usual harness clippy cannot tell"
)]

mod attack_client;
mod bypass_attempts;
mod cells;
mod counting_upstream;
mod hostile_upstream;
mod person;
mod raw_client;
mod shop;
mod task_upstream;
mod upstream;
mod witness_upstream;

mod access;
mod bypass;
mod calls;
mod changes;
mod faults;
mod gaps;
mod header_leak;
mod hostile;
mod http_statuses;
mod lists;
mod metrics;
mod notices;
mod openmetrics;
mod parked;
mod quarantine;
mod questions;
mod self_contained;
mod sharing;
mod task_sessions;
mod tasks;
mod telemetry;
mod view_endpoints;
mod view_results;
mod views;

use std::process::ExitCode;

use switchboard_testkit::Trial;

fn main() -> ExitCode {
    switchboard_transport::stdio::run_supervisor_if_requested();
    if let Some(part) = std::env::var_os(upstream::PART) {
        match part.to_str().unwrap_or_default() {
            counting_upstream::PART => counting_upstream::play(),
            hostile_upstream::PART => hostile_upstream::play(),
            part => upstream::play(part),
        }
        return ExitCode::SUCCESS;
    }
    let trials: Vec<Trial> = [
        access::trials(),
        bypass::trials(),
        calls::trials(),
        changes::trials(),
        faults::trials(),
        gaps::trials(),
        header_leak::trials(),
        hostile::trials(),
        http_statuses::trials(),
        lists::trials(),
        metrics::trials(),
        notices::trials(),
        parked::trials(),
        questions::trials(),
        sharing::trials(),
        self_contained::trials(),
        task_sessions::trials(),
        tasks::trials(),
        view_endpoints::trials(),
        view_results::trials(),
        views::trials(),
        quarantine::trials(),
        telemetry::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
    switchboard_testkit::run(trials)
}
