//! Serving on our own stdin and stdout, in one call.

use std::io;
use std::sync::Arc;

use switchboard_session::link::LinkError;
use switchboard_session::server::Server;
use switchboard_transport::stdio::take_stdio;

/// Serves on our own stdin and stdout until the client leaves.
///
/// # Errors
/// When stdin and stdout cannot be taken over, or the connection breaks otherwise than by the client leaving.
pub async fn serve_stdio(server: &Arc<Server>) -> io::Result<()> {
    match server.serve(take_stdio()?).await {
        LinkError::Closed => Ok(()),
        broken => Err(io::Error::other(broken)),
    }
}
