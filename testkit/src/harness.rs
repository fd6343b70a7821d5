//! Test harness for programs that are also supervisors and servers, which must be decided before any thread starts.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// Runs the tests like `cargo test`: with its arguments, and with `RUST_TEST_THREADS` tests in parallel.
pub fn run(trials: Vec<Trial>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    let threads = || std::env::var("RUST_TEST_THREADS").ok()?.parse().ok();
    arguments.test_threads = arguments.test_threads.or_else(threads);
    libtest_mimic::run(&arguments, trials).exit_code()
}
