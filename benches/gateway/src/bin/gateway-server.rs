//! A gateway in front of echo servers: by default as it is built first, with `--form policy` under a hundred rules.

use std::process::ExitCode;

use bench_gateway::gateway;
use bench_kit::{Binding, stdin_ended};
use switchboard::gateway::GatewayEndpoint;
use switchboard::serve_stdio;
use switchboard::server::{HttpListener, HttpServerOptions};

fn main() -> ExitCode {
    bench_kit::gateway(&["policy"], |args| async move {
        let gateway = gateway(&args).await?;
        match args.binding {
            Binding::Stdio => serve_stdio(gateway.server()).await?,
            Binding::Http => {
                let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await?;
                println!("listening http://{}/mcp", listener.address()?);
                let stopper = listener.shutdown_handle();
                let endpoint = GatewayEndpoint::new(&gateway, HttpServerOptions::default());
                let serving = tokio::spawn(listener.serve(endpoint));
                stdin_ended().await;
                stopper.stop();
                serving.await?;
            }
        }
        gateway.host().close().await;
        Ok(())
    })
}
