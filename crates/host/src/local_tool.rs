//! Tools of the application, in the same catalog as those of servers.

use switchboard_protocol::{CallToolResult, Raw, Tool};
use switchboard_session::link::BoxFuture;

use crate::run::Run;

/// A tool of the application. Its name is used verbatim, without a prefix.
pub trait LocalTool: Send + Sync + 'static {
    /// Returns the definition.
    fn definition(&self) -> Tool;

    /// Runs a call. A failure is an error result.
    ///
    /// # Cancellation
    /// The future is dropped when the run is cancelled.
    fn call<'a>(&'a self, arguments: Raw, run: Option<&'a Run>) -> BoxFuture<'a, CallToolResult>;
}
