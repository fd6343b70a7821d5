//! The fault rows F001 to F078: what a session does when the other side misbehaves.
//!
//! Each row is one or more named tests. The program is its own shim and, by a variable, plays the misbehaving server
//! ([`faultd`]), an honest server on its own stdio, or a host that is about to be killed ([`part`]).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking; without the usual harness clippy cannot tell")]

mod case;
mod faultd;
mod far;
mod lists;
mod progress;
mod semantics;
mod stage;
mod timing;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    switchboard::enter_if_asked();
    if let Ok(fault) = std::env::var(faultd::FAULT) {
        faultd::play(&fault);
        return ExitCode::SUCCESS;
    }
    let trials: Vec<Trial> = [
        case::trials(),
        lists::trials(),
        progress::trials(),
        semantics::trials(),
        timing::trials(),
    ]
    .into_iter()
    .flatten()
    .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
