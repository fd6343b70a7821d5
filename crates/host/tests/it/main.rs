//! The host as applications see it: real sessions in this process, real child processes, real HTTP on loopback.
//!
//! The program is its own shim and, by a variable, plays a server.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking; without the usual harness clippy cannot tell"
)]

mod hosts;
mod spans;
mod toy;
mod web;

mod applied;
mod calls;
mod catalog;
mod checklist;
mod crowd;
mod faults;
mod index;
mod kept_lists;
mod library;
mod lists;
mod logins;
mod oauth_logins;
mod operations;
mod session_starts;
mod sessions;
mod slots;
mod strain;
mod threats;
mod traffic;

use std::process::ExitCode;

use switchboard_testkit::Trial;

fn main() -> ExitCode {
    switchboard_transport::stdio::run_supervisor_if_requested();
    if let Some(part) = std::env::var_os(toy::PART) {
        match part.to_str().unwrap_or_default() {
            crowd::CHANGES => crowd::play(),
            faults::SCARCE => faults::play(),
            strain::CROWDED => strain::play(),
            part => toy::play(part),
        }
        return ExitCode::SUCCESS;
    }
    let trials: Vec<Trial> = [
        applied::trials(),
        checklist::trials(),
        oauth_logins::trials(),
        operations::trials(),
        session_starts::trials(),
        sessions::trials(),
        slots::trials(),
        catalog::trials(),
        calls::trials(),
        crowd::trials(),
        faults::trials(),
        kept_lists::trials(),
        library::trials(),
        lists::trials(),
        logins::trials(),
        strain::trials(),
        threats::trials(),
        traffic::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let index = index::trial(&trials);
    let trials = trials.into_iter().chain([index]).collect();
    switchboard_testkit::run(trials)
}
