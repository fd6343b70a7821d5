//! The harness of test programs that are also supervisors and servers, which must be decided before any thread exists.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// Runs the trials as `cargo test` runs tests: with its arguments, and as many at a time as `RUST_TEST_THREADS` says.
pub fn run(trials: Vec<Trial>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    let threads = || std::env::var("RUST_TEST_THREADS").ok()?.parse().ok();
    arguments.test_threads = arguments.test_threads.or_else(threads);
    libtest_mimic::run(&arguments, trials).exit_code()
}
