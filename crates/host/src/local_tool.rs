//! Tools of the application itself, in the same catalogue as those of servers.

use switchboard_protocol::{CallToolResult, Raw, Tool};
use switchboard_session::link::BoxFuture;

use crate::run::Run;

/// A tool that the application answers itself. Its name is used as it is, without a prefix.
pub trait LocalTool: Send + Sync + 'static {
    /// What is listed.
    fn definition(&self) -> Tool;

    /// Answers a call. A failure is a result that says so.
    ///
    /// # Cancellation
    /// The future is dropped when the run is cancelled.
    fn call<'a>(&'a self, arguments: Raw, run: Option<&'a Run>) -> BoxFuture<'a, CallToolResult>;
}
