//! Both sides in one process: a client of the session, and a server that is a service.

use std::process::ExitCode;

use bench_kit::inside;
use bench_switchboard::{Calling, client};
use switchboard::InProcess;

fn main() -> ExitCode {
    inside(&[], |args| async move {
        let server = bench_service::server(args.tools);
        Ok(Calling::from(client(args.era).connect(InProcess::new(&server)).await?))
    })
}
