//! A server that is a service.

use std::process::ExitCode;

use bench_kit::{Binding, server, stdin_ended};
use switchboard::{HttpListener, HttpOptions, HttpService, serve_stdio};

fn main() -> ExitCode {
    server(&["json"], |args| async move {
        let server = bench_service::server(args.tools);
        if args.binding == Binding::Stdio {
            return Ok(serve_stdio(&server).await?);
        }
        let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await?;
        println!("listening http://{}/mcp", listener.address()?);
        let stopper = listener.stopper();
        let serving = tokio::spawn(listener.serve(HttpService::new(&server, HttpOptions::default())));
        stdin_ended().await;
        stopper.stop();
        Ok(serving.await?)
    })
}
