//! A program that serves, as its words say.

use std::process::ExitCode;
use std::sync::Arc;

use bench_kit::{Binding, stdin_ended};
use switchboard::server::{HttpListener, HttpServerOptions, HttpService};
use switchboard::{Server, serve_stdio};

/// Serves the server that has this many tools, until stdin ends.
pub fn serve(make: fn(usize) -> Arc<Server>) -> ExitCode {
    bench_kit::server(&["json"], move |args| async move {
        let server = make(args.tools);
        if args.binding == Binding::Stdio {
            return Ok(serve_stdio(&server).await?);
        }
        let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await?;
        println!("listening http://{}/mcp", listener.address()?);
        let stopper = listener.shutdown_handle();
        let serving = tokio::spawn(listener.serve(HttpService::new(&server, HttpServerOptions::default())));
        stdin_ended().await;
        stopper.stop();
        Ok(serving.await?)
    })
}
