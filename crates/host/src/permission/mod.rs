//! Permissions of tool calls: by rules, remembered answers and the effects of the tool.
//!
//! Precedence in [`Policy::decide`]: a deny rule; an ask rule; a remembered answer; an allow rule; then the effects of the
//! tool. If the result is to ask, [`Gate`] asks the [`Approver`].
//!
//! **Invariants.** A deny rule always wins. Rules match the pair of server and tool, not a parsed name. Tool
//! annotations matter only if the user trusts the server. A remembered answer is about one definition of one tool of one
//! server: if any of them changes, the user is asked again. Without an approver, the answer is no.

mod approver;
mod call_policy;
mod definition;
mod gate;
mod known_server;
mod ledger;
mod policy;
mod scan;

pub use approver::{
    AnswerLifetime, ApprovalAnswer, ApprovalReply, ApprovalRequest, Approver, DenyingApprover,
};
pub use definition::{DefinitionHash, ServerIdentity};
pub(crate) use definition::{canonical_text, definition_text};
pub use gate::{Gate, PermissionDenied, Subject};
pub use known_server::KnownServer;
pub use ledger::{AnswerKey, Ledger, RememberedAnswer};
pub use policy::{
    Decision, DecisionReason, EffectOverrides, Effects, FallbackPolicy, Policy, PolicyCall, Trust,
};
pub use scan::{Suspicion, suspicions};
pub use switchboard_config::glob::Glob;
pub use switchboard_config::{MatchingRules, Rule, RuleError, Rules, Verdict};
pub use switchboard_session::link::BoxFuture;
