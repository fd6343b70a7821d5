//! A client written with rmcp.

use std::process::ExitCode;

fn main() -> ExitCode {
    bench_kit::client::<bench_rmcp::Calling>(&["pool"])
}
