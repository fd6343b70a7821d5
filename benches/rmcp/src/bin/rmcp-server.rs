//! A server written with rmcp.

use std::process::ExitCode;

use axum::serve::ListenerExt;
use bench_kit::{Binding, Fail, ServerArgs, server, stdin_ended};
use bench_rmcp::{Routes, Tools};
use rmcp::ServiceExt;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpService, stdio, stdio_pipes};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    server(&["pipes", "json"], |args| async move {
        let routes = if args.form == "default" { Routes::Made } else { Routes::Kept };
        let tools = Tools::new(args.tools, routes);
        match (args.binding, args.form.as_str()) {
            (Binding::Stdio, "json") | (Binding::Http, "pipes") => {
                Err("this form is of the other binding".into())
            }
            (Binding::Stdio, "pipes") => {
                tools.serve(stdio_pipes()).await?.waiting().await?;
                Ok(())
            }
            (Binding::Stdio, _) => {
                tools.serve(stdio()).await?.waiting().await?;
                Ok(())
            }
            (Binding::Http, _) => serve_http(tools, args).await,
        }
    })
}

async fn serve_http(tools: Tools, args: ServerArgs) -> Result<(), Fail> {
    let end = CancellationToken::new();
    let mut config = StreamableHttpServerConfig::default().with_cancellation_token(end.child_token());
    if args.form == "json" {
        config = config.with_legacy_session_mode(false).with_json_response(true);
    }
    let service: StreamableHttpService<Tools, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(tools.clone()), Default::default(), config);
    let router = axum::Router::new().nest_service("/mcp", service);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("listening http://{}/mcp", listener.local_addr()?);
    // Without it every answer as an event stream waits 40 ms for the client to acknowledge its head.
    let listener = listener.tap_io(|stream| _ = stream.set_nodelay(true));
    let ended = end.clone();
    let serving = axum::serve(listener, router).with_graceful_shutdown(ended.cancelled_owned());
    let serving = tokio::spawn(serving.into_future());
    stdin_ended().await;
    end.cancel();
    Ok(serving.await??)
}
