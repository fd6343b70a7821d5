//! The interface of call policies.

use switchboard_protocol::{Raw, Tool};
use switchboard_session::link::BoxFuture;

/// Decides about calls. Called after the arguments were validated and before anything is sent.
///
/// ```
/// use std::sync::Arc;
///
/// use switchboard::host::{CallDecision, CallPolicy, HostError, ProposedCall};
/// use switchboard::transport::link::BoxFuture;
/// use switchboard::{Host, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// struct ReadOnly;
///
/// impl CallPolicy for ReadOnly {
///     fn decide<'a>(&'a self, call: &'a ProposedCall<'a>) -> BoxFuture<'a, CallDecision> {
///         let decision = match call.tool.effects().is_read_only() {
///             true => CallDecision::Allow,
///             false => CallDecision::Deny { reason: "only tools that read are allowed".into() },
///         };
///         Box::pin(async { decision })
///     }
/// }
///
/// let host = Host::builder().with_call_policy(Arc::new(ReadOnly)).build();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// assert!(host.call("add", json!({ "a": 1, "b": 2 })).await.is_ok());
/// assert!(matches!(host.call("wait", json!({})).await, Err(HostError::Refused { .. })));
/// # demo::done() });
/// ```
pub trait CallPolicy: Send + Sync + 'static {
    /// Decides whether a call is allowed. May take long, for example to ask the user.
    ///
    /// # Cancellation
    /// The future is dropped when the call is cancelled.
    fn decide<'a>(&'a self, call: &'a ProposedCall<'a>) -> BoxFuture<'a, CallDecision>;
}

/// A call before it is sent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProposedCall<'a> {
    /// The name of the server.
    pub server: &'a str,
    /// The tool as its server lists it.
    pub tool: &'a Tool,
    /// The qualified name of the tool.
    pub name: &'a str,
    /// The arguments.
    pub arguments: &'a Raw,
    /// Whether the user has [confirmed](crate::ToolCall::confirmed) this call.
    pub is_confirmed: bool,
}

impl<'a> ProposedCall<'a> {
    /// Creates a proposed call.
    pub fn new(server: &'a str, tool: &'a Tool, name: &'a str, arguments: &'a Raw) -> Self {
        Self { server, tool, name, arguments, is_confirmed: false }
    }
}

/// The decision about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallDecision {
    /// The call is allowed.
    Allow,
    /// The call is denied.
    Deny {
        /// The reason and a remedy, for the model.
        reason: String,
    },
}
