//! Tests with real processes. The program supervises the servers that it starts, and is those servers too, which it must
//! decide before any thread: hence its own harness.
//!
//! With this harness `#[test]` does nothing; a test is a [`Trial`](switchboard_testkit::Trial) that its module lists.

#![allow(
    clippy::unwrap_used,
    reason = "a test ends at the first surprise; without the usual harness clippy cannot tell"
)]

mod eras;
mod faults;
mod interop;
mod talks;

use std::process::ExitCode;

fn main() -> ExitCode {
    switchboard::run_supervisor_if_requested();
    if let Some(code) = eras::work_as_child() {
        return code;
    }
    if let Some(done) = talks::work_as_child() {
        return match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    if faults::work_as_child() {
        return ExitCode::SUCCESS;
    }
    let trials = [eras::trials(), talks::trials(), faults::trials(), interop::trials()];
    switchboard_testkit::run(trials.into_iter().flatten().collect())
}
