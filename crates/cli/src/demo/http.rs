//! The demo server over HTTP: allowed hosts, announcement and shutdown.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use switchboard::Server;
use switchboard::auth::ResourceServer;
use switchboard::server::{HttpListener, HttpServerOptions, HttpService, ListenerLimits};
use switchboard::transport::http::server::LegacySse;

use crate::args::DemoServerArgs;
use crate::error::CommandError;
use crate::output::Screen;
use crate::signals::Signals;

/// Time for calls in progress to finish after a signal.
const DRAIN: Duration = Duration::from_secs(5);
/// Loopback host names.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Serves until a signal arrives, then lets calls in progress finish. A second signal stops immediately.
///
/// # Errors
/// Returns an error if the address is not allowed or cannot be bound.
pub(crate) async fn serve(
    server: &Arc<Server>,
    address: SocketAddr,
    args: &DemoServerArgs,
) -> Result<(), CommandError> {
    if !address.ip().is_loopback() && !args.allow_remote {
        return Err(CommandError::usage(format!(
            "{address} is reachable from other machines, and there is no authentication"
        ))
        .hint("serve on 127.0.0.1, or pass --allow-remote --allow-host NAME to allow it"));
    }
    let mut signals = Signals::catch()?;
    let listener = HttpListener::bind(address).await.map_err(|error| {
        CommandError::other("io", format!("cannot listen on {address}: {error}"))
            .hint("port 0 chooses a free port")
    })?;
    let mut limits = ListenerLimits::default();
    limits.drain = DRAIN;
    let listener = listener.with_limits(limits);
    let options = options(args, listener.address()?)?;
    announce(listener.address()?, args);
    let stopper = listener.shutdown_handle();
    let mut serving = std::pin::pin!(listener.serve(HttpService::new(server, options)));
    tokio::select! {
        () = &mut serving => return Ok(()),
        _ = signals.next() => stopper.stop(),
    }
    tokio::select! {
        () = serving => Ok(()),
        signal = signals.next() => Err(CommandError::Interrupted { signal }),
    }
}

fn options(args: &DemoServerArgs, address: SocketAddr) -> Result<HttpServerOptions, CommandError> {
    let mut options = HttpServerOptions::default();
    if !args.allow_host.is_empty() {
        options.allowed_hosts =
            LOOPBACK.map(str::to_owned).into_iter().chain(args.allow_host.clone()).collect();
    }
    options.legacy_sse = args.sse.then(LegacySse::default);
    let Some(file) = &args.api_keys else { return Ok(options) };
    let resource = ResourceServer::new(format!("http://{address}/mcp")).api_key_file(file);
    let verifier = resource.build().map_err(|error| CommandError::other("api_keys", error.to_string()))?;
    Ok(options.with_verifier(Arc::new(verifier)))
}

fn announce(address: SocketAddr, args: &DemoServerArgs) {
    let screen = Screen::new();
    if args.allow_remote {
        screen.warn("there is no authentication: everyone who reaches this port can use the server");
    }
    // An unspecified address cannot be connected to, so show the allowed host.
    let host = match args.allow_host.first() {
        Some(host) if address.ip().is_unspecified() => format!("{host}:{}", address.port()),
        _ => address.to_string(),
    };
    screen.say(&format!("listening at http://{host}/mcp"));
    if args.sse {
        screen.say(&format!("listening at http://{host}/sse for clients of 2024"));
    }
}
