//! A client written with switchboard.

use std::process::ExitCode;

fn main() -> ExitCode {
    bench_kit::client::<bench_switchboard::Calling>(&["pipes"])
}
