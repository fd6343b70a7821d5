//! A client that calls through a host.

use std::process::ExitCode;

fn main() -> ExitCode {
    bench_kit::client::<bench_host::Hosted>(&[])
}
