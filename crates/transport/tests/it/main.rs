//! Real processes on real pipes. The program is its own supervisor and, by a variable, plays the host or a server.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking; without the usual harness clippy cannot tell"
)]

mod exit;
mod line;
mod links;
mod own;
mod part;
mod start;
mod stop;

use std::process::ExitCode;

use switchboard_testkit::Trial;

fn main() -> ExitCode {
    switchboard_transport::stdio::run_supervisor_if_requested();
    if let Some(part) = std::env::var_os(part::PART) {
        part::play(part.to_str().unwrap_or_default());
        return ExitCode::SUCCESS;
    }
    let trials: Vec<Trial> = [line::trials(), start::trials(), exit::trials(), stop::trials(), own::trials()]
        .into_iter()
        .flatten()
        .collect();
    switchboard_testkit::run(trials)
}
