//! The client that the official conformance suite judges, built on the public API alone.
//!
//! The suite names the scenario and the revision in the environment, and gives the URL of its mock server as the last
//! argument. It ends with 0 when everything went as it should, and by itself after a while in any case.

mod answers;
mod scenario;
mod told;

use std::process::ExitCode;
use std::time::Duration;

use crate::told::Told;

/// The suite waits longer than this for a client, and a client that outlives its shell would hold up the whole run.
const PATIENCE: Duration = Duration::from_secs(25);
/// With which code a client ends that has given up waiting.
const GAVE_UP: i32 = 124;

#[tokio::main]
async fn main() -> ExitCode {
    // A thread of its own: it must end the program even when nothing else runs any more.
    std::thread::spawn(|| {
        std::thread::sleep(PATIENCE);
        eprintln!("everything-client: gave up after {} s", PATIENCE.as_secs());
        std::process::exit(GAVE_UP);
    });
    let told = match Told::by_the_suite() {
        Ok(told) => told,
        Err(wrong) => {
            eprintln!("everything-client: {wrong}");
            return ExitCode::from(2);
        }
    };
    match scenario::play(&told).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("everything-client: {}: {error}", told.scenario);
            ExitCode::FAILURE
        }
    }
}
