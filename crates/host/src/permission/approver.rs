//! The interface for asking the user about a call.

use std::fmt;
use std::future::ready;

use serde::{Deserialize, Serialize};
use switchboard_protocol::Raw;
use switchboard_session::link::BoxFuture;

use crate::permission::policy::{DecisionReason, Effects};
use crate::permission::scan::Suspicion;

/// A request to approve a call. Everything but the name of the server is untrusted text of the server.
#[derive(Clone)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The configured name of the server.
    pub server: String,
    /// The name of the tool on the server.
    pub tool: String,
    /// The description of the tool.
    pub description: Option<String>,
    /// The arguments of the call.
    pub arguments: Option<Raw>,
    /// The assumed effects of the tool.
    pub effects: Effects,
    /// Suspicious features of the definition.
    pub suspicions: Vec<Suspicion>,
    /// Why approval is needed.
    pub reason: DecisionReason,
    /// Whether an approval may be remembered; not if a rule asks for every call.
    pub can_remember: bool,
    /// Whether an earlier answer was about another definition of the tool.
    pub has_changed: bool,
}

impl fmt::Debug for ApprovalRequest {
    /// Omits the arguments, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalRequest")
            .field("server", &self.server)
            .field("tool", &self.tool)
            .field("effects", &self.effects)
            .field("reason", &self.reason)
            .field("has_changed", &self.has_changed)
            .finish_non_exhaustive()
    }
}

/// The answer to an approval request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalAnswer {
    /// The call is allowed.
    Allow,
    /// The call is denied.
    Deny,
}

/// How long an answer is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnswerLifetime {
    /// For this call.
    Once,
    /// Until the process ends.
    Session,
    /// Until it is revoked or the definition changes.
    Always,
}

/// The reply of an approver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApprovalReply {
    /// The answer.
    pub answer: ApprovalAnswer,
    /// How long the answer is valid.
    pub lifetime: AnswerLifetime,
}

impl ApprovalReply {
    /// Creates a reply.
    pub fn new(answer: ApprovalAnswer, lifetime: AnswerLifetime) -> Self {
        Self { answer, lifetime }
    }
}

/// Asks the user about calls.
///
/// # Cancellation
/// The future is dropped when the call is cancelled; a dialog should close then.
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use switchboard::host::permission::{
///     AnswerLifetime, ApprovalAnswer, ApprovalReply, ApprovalRequest, Approver, BoxFuture, Gate, Policy,
/// };
/// use switchboard::{Host, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// #[derive(Debug)]
/// struct Dialog;
///
/// impl Approver for Dialog {
///     fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalReply> {
///         println!("{} wants to run {}", request.server, request.tool);
///         Box::pin(async { ApprovalReply::new(ApprovalAnswer::Allow, AnswerLifetime::Session) })
///     }
/// }
///
/// let host = Host::builder().permissions(Gate::new(Policy::default()).with_approver(Arc::new(Dialog))).build();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// assert_eq!(host.call("add", json!({ "a": 1, "b": 2 })).await?.text(), "3");
/// # demo::done() });
/// ```
pub trait Approver: Send + Sync + fmt::Debug {
    /// Asks whether the call is allowed. There is at most one open request at a time.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalReply>;
}

/// An approver that denies every request: for hosts without a user.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenyingApprover;

impl Approver for DenyingApprover {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalReply> {
        Box::pin(ready(ApprovalReply::new(ApprovalAnswer::Deny, AnswerLifetime::Once)))
    }
}
