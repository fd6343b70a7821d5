//! Policy: typed rules that allow or deny calls, compiled to a decision table.
//!
//! ```text
//!   TOML ──▶ rules ──▶ decision table (by server, kind, name)
//!                            │
//!   Subject + Target + arguments ──▶ Decision
//! ```
//!
//! 1. [`Policy::parse`] reads the rules; an error names line and rule.
//! 2. [`Policy::decide`] decides about one call, [`Policy::is_visible`] about an entry of a list.
//! 3. [`Policy::warnings`] reports rules that can never take effect.
//!
//! **Invariants.** A deny rule overrides every allow rule, in any order. Where a name, URI or argument can be read in
//! more than one way, a deny rule matches if any reading matches, and an allow rule only if every reading does. The
//! decision depends on the canonical form of the arguments alone.
//!
//! ```
//! use switchboard::gateway::policy::{Decision, Policy, Subject, Target};
//! use switchboard::protocol::Raw;
//!
//! let policy = Policy::parse(r#"
//!     default = "deny"
//!     [[rule]]
//!     effect = "allow"
//!     server = "files"
//!     tool = "read_*"
//!     arguments = { path = { matches = "/srv/[a-z]+\\.txt" } }
//! "#)?;
//! let target = Target::tool("files", "read_text");
//! let decide = |arguments: &str| policy.decide(&Subject::anonymous(), &target, Some(&Raw::parse(arguments).unwrap()));
//! assert!(matches!(decide(r#"{"path": "/srv/notes.txt"}"#), Decision::Allow { .. }));
//! assert!(matches!(decide(r#"{"path": "/etc/passwd"}"#), Decision::Deny { .. }));
//! assert!(matches!(decide(r#"{"path": "/srv/notes.txt", "path": "/etc/passwd"}"#), Decision::Deny { .. }));
//! # Ok::<(), switchboard::gateway::policy::PolicyError>(())
//! ```

mod argument_path;
mod condition;
mod decision;
mod document;
mod error;
mod expected;
mod explanation;
mod inspection;
mod lint;
mod name_set;
mod number;
#[expect(clippy::module_inception, reason = "the file is named for its main type")]
mod policy;
mod regex;
mod rule;
mod rule_document;
mod selector;
mod subject;
mod table;
mod target;
mod uri_set;

pub use decision::{Decision, DenyReason, RuleRef};
pub(crate) use document::{TomlEntry, TomlTable, parse_document, parse_section};
pub use error::{PolicyError, PolicyErrorKind};
pub use explanation::{MatchingRule, PolicyExplanation};
pub use lint::{PolicyWarning, PolicyWarningKind};
pub(crate) use name_set::{NameSet, fold_case};
pub use policy::Policy;
pub use rule::{Effect, RuleStatus};
pub(crate) use selector::{SELECTOR_KEYS, Selector};
pub use subject::Subject;
pub use target::{Target, TargetKind};
pub(crate) use target::{TargetView, has_invisible_characters};
pub(crate) use uri_set::{TemplateReading, UriReadings, UriSet};
