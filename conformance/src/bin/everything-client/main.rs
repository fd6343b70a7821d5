//! Client under test of the official conformance suite, built on the public API alone.
//!
//! The suite names the scenario and the revision in the environment, and gives the URL of its mock server as the last
//! argument. It exits with 0 on success, and after a timeout in any case.

mod authorization;
mod handler;
mod input;
mod scenario;

use std::process::ExitCode;
use std::time::Duration;

use crate::input::ScenarioInput;

/// Shorter than the timeout of the suite: a client that outlives its shell would block the whole run.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(25);
/// Exit code of a client that gave up waiting.
const GAVE_UP: i32 = 124;

#[tokio::main]
async fn main() -> ExitCode {
    // A separate thread: it must end the program even if the runtime is blocked.
    std::thread::spawn(|| {
        std::thread::sleep(CLIENT_TIMEOUT);
        eprintln!("everything-client: gave up after {} s", CLIENT_TIMEOUT.as_secs());
        std::process::exit(GAVE_UP);
    });
    let input = match ScenarioInput::from_environment() {
        Ok(input) => input,
        Err(error) => {
            eprintln!("everything-client: {error}");
            return ExitCode::from(2);
        }
    };
    match scenario::run(&input).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("everything-client: {}: {error}", input.scenario);
            ExitCode::FAILURE
        }
    }
}
