//! `switchboard gateway` under load: many upstreams that crash, and callers that must never see each other's state.
//!
//! The gateway is the real command in a process of its own; the program itself, by a variable, plays the upstream servers,
//! which must be decided before any thread: hence its own harness. Counts are small by default and full with
//! `SWITCHBOARD_LONG=1`; `SWITCHBOARD_LOAD_CALLS` and `SWITCHBOARD_LOAD_SEED` set them.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails by panicking; without the usual harness clippy cannot tell"
)]

mod crashes;
mod gateway_process;
mod join;
mod ledger_server;
mod principals;
mod seeded;
mod stateful_server;

use std::process::ExitCode;

use switchboard_testkit::Trial;

/// The variable that makes this program an upstream server.
const PART: &str = "SWITCHBOARD_LOAD_PART";

fn main() -> ExitCode {
    match std::env::var(PART).as_deref() {
        Ok("ledger") => ledger_server::play(),
        Ok("stateful") => stateful_server::play(),
        Ok(other) => panic!("there is no part {other}"),
        Err(_) => {
            let trials: Vec<Trial> =
                [crashes::trials(), principals::trials()].into_iter().flatten().collect();
            return switchboard_testkit::run(trials);
        }
    }
    ExitCode::SUCCESS
}
