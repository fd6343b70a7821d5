//! The demo over HTTP: who may reach it, where it says it is, and how it stops.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use switchboard::transport::http::server::LegacySse;
use switchboard::{HttpListener, HttpServerOptions, HttpService, ListenerLimits, Server};

use crate::args::DemoServerArgs;
use crate::failure::{Failure, Status};
use crate::output::Screen;
use crate::signals::Signals;

/// How long calls under way may still take when the server is told to stop.
const DRAIN: Duration = Duration::from_secs(5);
/// This machine's names for itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Serves until a signal says to stop, then lets what is under way finish. A second signal ends it at once.
///
/// # Errors
/// When the address may not be served on, or cannot be had.
pub(crate) async fn serve(
    server: &Arc<Server>,
    address: SocketAddr,
    args: &DemoServerArgs,
) -> Result<(), Failure> {
    if !address.ip().is_loopback() && !args.allow_remote {
        return Err(Failure::usage(format!(
            "{address} can be reached from other machines, and there is no authentication"
        ))
        .hint("serve on 127.0.0.1, or give --allow-remote --allow-host NAME if that is what you want"));
    }
    let mut signals = Signals::catch()?;
    let listener = HttpListener::bind(address).await.map_err(|error| {
        Failure::new(Status::Other, "io", format!("cannot listen on {address}: {error}"))
            .hint("port 0 takes any that is free")
    })?;
    let mut limits = ListenerLimits::default();
    limits.drain = DRAIN;
    let listener = listener.with_limits(limits);
    announce(listener.address()?, args);
    let stopper = listener.shutdown_handle();
    let mut serving = std::pin::pin!(listener.serve(HttpService::new(server, options(args))));
    tokio::select! {
        () = &mut serving => return Ok(()),
        _ = signals.next() => stopper.stop(),
    }
    tokio::select! {
        () = serving => Ok(()),
        signal = signals.next() => Err(Failure::Interrupted { signal }),
    }
}

fn options(args: &DemoServerArgs) -> HttpServerOptions {
    let mut options = HttpServerOptions::default();
    if !args.allow_host.is_empty() {
        options.allowed_hosts =
            LOOPBACK.map(str::to_owned).into_iter().chain(args.allow_host.clone()).collect();
    }
    options.legacy_sse = args.sse.then(LegacySse::default);
    options
}

fn announce(address: SocketAddr, args: &DemoServerArgs) {
    let screen = Screen::new();
    if args.allow_remote {
        screen.warn("there is no authentication: whoever reaches this port may use the server");
    }
    // Everything this machine is called by is no address to go to.
    let host = match args.allow_host.first() {
        Some(host) if address.ip().is_unspecified() => format!("{host}:{}", address.port()),
        _ => address.to_string(),
    };
    screen.say(&format!("listening at http://{host}/mcp"));
    if args.sse {
        screen.say(&format!("listening at http://{host}/sse for clients of 2024"));
    }
}
