//! The policy that decides whether a call may be made: the seam between the path of a call and whoever decides.

use switchboard_protocol::{Raw, Tool};
use switchboard_session::link::BoxFuture;

/// Decides about calls. Asked after the arguments were checked and before anything is sent.
pub trait CallPolicy: Send + Sync + 'static {
    /// Whether this call may be made. May take its time, to ask the user.
    ///
    /// # Cancellation
    /// The future is dropped when the call is.
    fn decide<'a>(&'a self, call: &'a ProposedCall<'a>) -> BoxFuture<'a, CallDecision>;
}

/// A call that somebody wants to make.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProposedCall<'a> {
    /// The server that would answer.
    pub server: &'a str,
    /// The tool, as its server lists it.
    pub tool: &'a Tool,
    /// The name the model knows it by.
    pub name: &'a str,
    /// What it would be called with.
    pub arguments: &'a Raw,
}

impl<'a> ProposedCall<'a> {
    /// A call of a tool.
    pub fn new(server: &'a str, tool: &'a Tool, name: &'a str, arguments: &'a Raw) -> Self {
        Self { server, tool, name, arguments }
    }
}

/// The decision about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallDecision {
    /// The call is made.
    Allow,
    /// The call is not made.
    Deny {
        /// Why, and what would help; the model reads it.
        reason: String,
    },
}
