//! Tools of the application, in the same catalog as those of servers.

use switchboard_protocol::{CallToolResult, Raw, Tool};
use switchboard_session::link::BoxFuture;

use crate::run::Run;

/// A tool of the application. Its name is used verbatim, without a prefix.
///
/// ```
/// use std::sync::Arc;
///
/// use switchboard::host::{LocalTool, Run};
/// use switchboard::protocol::{CallToolResult, Content, Raw, Tool};
/// use switchboard::transport::link::BoxFuture;
/// use switchboard::{Host, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// struct Today;
///
/// impl LocalTool for Today {
///     fn definition(&self) -> Tool {
///         Tool::new("today", json!({ "type": "object" })).with_description("Returns the date.")
///     }
///
///     fn call<'a>(&'a self, _: Raw, _: Option<&'a Run>) -> BoxFuture<'a, CallToolResult> {
///         Box::pin(async { CallToolResult::new([Content::text("Monday")]) })
///     }
/// }
///
/// let host = Host::builder().with_tool(Arc::new(Today)).build();
/// assert_eq!(host.execute("today", json!({})).await.text(), "Monday");
/// # demo::done() });
/// ```
pub trait LocalTool: Send + Sync + 'static {
    /// Returns the definition.
    fn definition(&self) -> Tool;

    /// Runs a call. A failure is an error result.
    ///
    /// # Cancellation
    /// The future is dropped when the run is cancelled.
    fn call<'a>(&'a self, arguments: Raw, run: Option<&'a Run>) -> BoxFuture<'a, CallToolResult>;
}
