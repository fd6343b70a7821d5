//! Both sides in one process, written with rmcp: a duplex stream in memory.

use std::process::ExitCode;

use bench_kit::inside;
use bench_rmcp::{Calling, Routes, Tools};
use rmcp::ServiceExt;

/// What the stream holds before its writer waits.
const ROOM: usize = 64 * 1024;

fn main() -> ExitCode {
    inside(&["kept"], |args| async move {
        let routes = if args.form == "kept" { Routes::Kept } else { Routes::Made };
        let tools = Tools::new(args.tools, routes);
        let (near, far) = tokio::io::duplex(ROOM);
        tokio::spawn(async move {
            if let Ok(running) = tools.serve(far).await {
                let _ = running.waiting().await;
            }
        });
        Calling::over(near, args.era).await
    })
}
