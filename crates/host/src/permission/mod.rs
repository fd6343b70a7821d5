//! Whether a tool may be called: by rules, by what a person answered before, by what the tool does.
//!
//! The order, in [`Policy::decide`]: a deny rule; an ask rule; a remembered answer; an allow rule; then the effects of
//! the tool. What remains to be asked goes to the [`Approver`], and [`Gate`] ties it together.
//!
//! **Invariants.** A deny rule always wins. Rules match the pair of server and tool, never a name taken apart. What a
//! server says of its tools counts only if the user trusts the server. A remembered answer holds for one definition of
//! one tool of one server: when any of them changes, the question comes again. Where nobody can be asked, the answer
//! is no.

mod approver;
mod call_policy;
mod definition;
mod gate;
mod known;
mod ledger;
mod scan;
mod verdict;

pub use approver::{Answer, Approver, BoxFuture, Memory, NobodyToAsk, Question, Reply};
pub use definition::{DefinitionHash, ServerIdentity};
pub(crate) use definition::{canonical_text, definition_text};
pub use gate::{Gate, Refused, Subject};
pub use known::Known;
pub use ledger::{Key, Ledger, Recalled};
pub use scan::{Suspicion, suspicions};
pub use switchboard_config::glob::Glob;
pub use switchboard_config::{Found, Rule, RuleError, Rules, Verdict};
pub use verdict::{Call, Decision, Effects, Overrides, Policy, Reason, Stance, Trust};
