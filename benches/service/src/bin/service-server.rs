//! A server that is a service.

use std::process::ExitCode;

fn main() -> ExitCode {
    bench_switchboard::serve(bench_service::server)
}
