//! A server written with switchboard.

use std::process::ExitCode;

fn main() -> ExitCode {
    bench_switchboard::serve(bench_switchboard::server)
}
