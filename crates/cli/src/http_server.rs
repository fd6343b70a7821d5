//! A server of this command over HTTP: allowed hosts and callers, announcement, shutdown.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use switchboard::auth::ResourceServer;
use switchboard::server::{HttpListener, HttpServerOptions, ListenerLimits};
use switchboard::transport::http::server::Endpoint;

use crate::args::HttpServerArgs;
use crate::error::CommandError;
use crate::output::Screen;
use crate::signals::Signals;

/// Time for calls in progress to finish after a signal.
const DRAIN: Duration = Duration::from_secs(5);
/// Loopback host names.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// An HTTP server that is bound to its address and does not serve yet.
pub(crate) struct BoundServer {
    listener: HttpListener,
    /// Allowed hosts and callers.
    pub(crate) options: HttpServerOptions,
    /// How clients reach it, like `http://127.0.0.1:8080`.
    pub(crate) origin: String,
}

impl BoundServer {
    /// Binds to the address.
    ///
    /// # Errors
    /// Returns an error if the address is not allowed or cannot be bound, or the file of API keys cannot be read.
    pub(crate) async fn bind(address: SocketAddr, args: &HttpServerArgs) -> Result<Self, CommandError> {
        if !address.ip().is_loopback() && !args.allow_remote {
            return Err(CommandError::usage(format!(
                "{address} is reachable from other machines, and there is no authentication"
            ))
            .hint("serve on 127.0.0.1, or pass --allow-remote --allow-host NAME to allow it"));
        }
        let listener = HttpListener::bind(address).await.map_err(|error| {
            CommandError::other("io", format!("cannot listen on {address}: {error}"))
                .hint("port 0 chooses a free port")
        })?;
        let mut limits = ListenerLimits::default();
        limits.drain = DRAIN;
        let listener = listener.with_limits(limits);
        let address = listener.address()?;
        Ok(Self { options: options(args, address)?, origin: origin(args, address), listener })
    }

    /// Tells where the server listens.
    pub(crate) fn announce(&self, args: &HttpServerArgs) {
        let screen = Screen::new();
        if args.allow_remote {
            screen.warn("there is no authentication: everyone who reaches this port can send requests");
        }
        screen.say(&format!("listening at {}/mcp", self.origin));
    }

    /// Serves until a signal arrives, then lets calls in progress finish. A second signal stops immediately.
    ///
    /// # Errors
    /// Returns an error if a second signal arrived.
    pub(crate) async fn serve(
        self,
        endpoint: impl Endpoint,
        mut signals: Signals,
    ) -> Result<(), CommandError> {
        let stopper = self.listener.shutdown_handle();
        let mut serving = std::pin::pin!(self.listener.serve(endpoint));
        tokio::select! {
            () = &mut serving => return Ok(()),
            _ = signals.next() => stopper.stop(),
        }
        tokio::select! {
            () = serving => Ok(()),
            signal = signals.next() => Err(CommandError::Interrupted { signal }),
        }
    }
}

fn options(args: &HttpServerArgs, address: SocketAddr) -> Result<HttpServerOptions, CommandError> {
    let mut options = HttpServerOptions::default();
    if !args.allow_host.is_empty() {
        options.allowed_hosts =
            LOOPBACK.map(str::to_owned).into_iter().chain(args.allow_host.clone()).collect();
    }
    let Some(file) = &args.api_keys else { return Ok(options) };
    let resource = ResourceServer::new(format!("http://{address}/mcp")).api_key_file(file);
    let verifier = resource.build().map_err(|error| CommandError::other("api_keys", error.to_string()))?;
    Ok(options.with_verifier(Arc::new(verifier)))
}

fn origin(args: &HttpServerArgs, address: SocketAddr) -> String {
    // An unspecified address cannot be connected to, so show the allowed host.
    match args.allow_host.first() {
        Some(host) if address.ip().is_unspecified() => format!("http://{host}:{}", address.port()),
        _ => format!("http://{address}"),
    }
}
