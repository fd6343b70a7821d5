//! A server over HTTP: open, or with `--form protected` one that verifies the token of every request.

use std::process::ExitCode;

use bench_auth::fixture_verifier;
use bench_kit::{Binding, stdin_ended};
use switchboard::server::{HttpListener, HttpServerOptions, HttpService};

fn main() -> ExitCode {
    bench_kit::server(&["protected"], |args| async move {
        if args.binding == Binding::Stdio {
            return Err("tokens travel over HTTP only".into());
        }
        let mut options = HttpServerOptions::default();
        if args.form == "protected" {
            options = options.with_verifier(fixture_verifier().await?);
        }
        let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await?;
        println!("listening http://{}/mcp", listener.address()?);
        let stopper = listener.shutdown_handle();
        let service = HttpService::new(&bench_switchboard::server(args.tools), options);
        let serving = tokio::spawn(listener.serve(service));
        stdin_ended().await;
        stopper.stop();
        Ok(serving.await?)
    })
}
