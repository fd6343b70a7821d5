//! The demo server over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;

use switchboard::Server;
use switchboard::server::HttpService;
use switchboard::transport::http::server::LegacySse;

use crate::args::DemoServerArgs;
use crate::error::CommandError;
use crate::http_server::BoundServer;
use crate::output::Screen;
use crate::signals::Signals;

/// Serves until a signal arrives, then lets calls in progress finish. A second signal stops immediately.
///
/// # Errors
/// Returns an error if the address is not allowed or cannot be bound.
pub(crate) async fn serve(
    server: &Arc<Server>,
    address: SocketAddr,
    args: &DemoServerArgs,
) -> Result<(), CommandError> {
    let signals = Signals::catch()?;
    let mut bound = BoundServer::bind(address, &args.server).await?;
    bound.options.legacy_sse = args.sse.then(LegacySse::default);
    bound.announce(&args.server);
    if args.sse {
        Screen::new().say(&format!("listening at {}/sse for clients of 2024", bound.origin));
    }
    let service = HttpService::new(server, bound.options.clone());
    bound.serve(service, signals).await
}
