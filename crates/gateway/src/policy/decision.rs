//! The outcome of a decision.

use std::fmt;
use std::sync::Arc;

/// A rule that made a decision: for audit and `why`, never for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleRef {
    /// The position in the document, from 0.
    pub index: usize,
    /// The `name` of the rule.
    pub name: Option<Arc<str>>,
}

impl fmt::Display for RuleRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "rule {} (`{name}`)", self.index + 1),
            None => write!(f, "rule {}", self.index + 1),
        }
    }
}

/// The decision about a call.
///
/// The caller learns only of [`Self::MissingScope`], by a challenge. A denied target must answer exactly like an
/// unknown one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The call is allowed.
    Allow {
        /// The first allow rule that matched; `None` by default.
        rule: Option<RuleRef>,
    },
    /// The call is denied.
    Deny {
        /// The first rule that denied it; `None` by default.
        rule: Option<RuleRef>,
        /// Why.
        reason: DenyReason,
    },
    /// The call would be allowed with further scopes.
    MissingScope {
        /// The rule that asks for them.
        rule: Option<RuleRef>,
        /// All scopes that the caller lacks, sorted.
        scopes: Vec<String>,
    },
}

impl Decision {
    /// Returns whether the call is allowed.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }

    /// Returns the rule that made the decision; `None` by default.
    pub fn rule(&self) -> Option<&RuleRef> {
        match self {
            Self::Allow { rule } | Self::Deny { rule, .. } | Self::MissingScope { rule, .. } => rule.as_ref(),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allow { .. } => f.write_str("allowed by ")?,
            Self::Deny { .. } => f.write_str("denied by ")?,
            Self::MissingScope { scopes, .. } => write!(f, "scope {} is required by ", scopes.join(" "))?,
        }
        match self.rule() {
            Some(rule) => rule.fmt(f)?,
            None => f.write_str("default")?,
        }
        match self {
            Self::Deny { reason, .. } if !matches!(reason, DenyReason::Rule | DenyReason::Default) => {
                write!(f, ": {reason}")
            }
            _ => Ok(()),
        }
    }
}

/// Why a call is denied. For audit and `why`, never for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DenyReason {
    /// A deny rule matches.
    Rule,
    /// No allow rule matches, and the default is to deny.
    Default,
    /// The arguments are not an object.
    ArgumentsNotAnObject,
    /// An object on the path of a rule has two members of the same name.
    DuplicateKey,
    /// The name of a member differs from a ruled one in case only.
    AmbiguousKey,
    /// The name of the target has invisible characters.
    InvisibleCharacters,
}

impl DenyReason {
    /// Returns the reason as a word, for records and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Default => "default",
            Self::ArgumentsNotAnObject => "arguments_not_an_object",
            Self::DuplicateKey => "duplicate_key",
            Self::AmbiguousKey => "ambiguous_key",
            Self::InvisibleCharacters => "invisible_characters",
        }
    }
}

impl fmt::Display for DenyReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rule => "a deny rule matches",
            Self::Default => "no allow rule matches",
            Self::ArgumentsNotAnObject => "the arguments are not an object",
            Self::DuplicateKey => "an argument is given twice",
            Self::AmbiguousKey => "the name of an argument differs from a ruled one in case only",
            Self::InvisibleCharacters => "the name of the target has invisible characters",
        })
    }
}
