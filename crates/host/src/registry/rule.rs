//! Allow and deny rules for the tools of one server, and the reasons why a tool is withheld.
//!
//! A withheld tool is neither listed nor callable.

use std::fmt;
use std::sync::Arc;

use switchboard_config::glob::glob_matches;

/// Why a tool that its server lists is neither shown nor callable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WithheldReason {
    /// A rule denies it.
    Denied {
        /// The rule.
        rule: Arc<str>,
    },
    /// The allow list does not match it.
    NotAllowed,
    /// Its qualified name is also the name of another tool.
    Clash {
        /// The servers and tools with that name.
        with: Vec<(Arc<str>, String)>,
    },
    /// Its definition differs from the pinned one.
    Drifted,
    /// The catalog is full.
    TooMany {
        /// The limit.
        max: usize,
    },
}

impl fmt::Display for WithheldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied { rule } => write!(f, "the rule {rule:?} denies it"),
            Self::NotAllowed => f.write_str("no rule of its server's allow list allows it"),
            Self::Clash { with } => {
                let pairs: Vec<String> =
                    with.iter().map(|(server, tool)| format!("{tool} of {server}")).collect();
                write!(f, "several tools have its name: {}", pairs.join(", "))
            }
            Self::Drifted => {
                f.write_str("its definition has changed since it was pinned; review and accept it")
            }
            Self::TooMany { max } => write!(f, "the catalog is full: it holds at most {max} tools"),
        }
    }
}

/// The rules of one server.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolRules {
    allow: Vec<Arc<str>>,
    deny: Vec<Arc<str>>,
    /// Denied at run time; exact names or globs.
    denied: Vec<Arc<str>>,
}

impl ToolRules {
    pub(crate) fn new(allow: &[String], deny: &[String]) -> Self {
        let shared = |rules: &[String]| rules.iter().map(|rule| Arc::from(rule.as_str())).collect();
        Self { allow: shared(allow), deny: shared(deny), denied: Vec::new() }
    }

    pub(crate) fn set_denied(&mut self, tools: impl IntoIterator<Item = Arc<str>>) {
        self.denied = tools.into_iter().collect();
    }

    /// Returns why a tool is withheld, if it is. Deny wins.
    pub(crate) fn decide(&self, tool: &str) -> Option<WithheldReason> {
        let denies = |rule: &&Arc<str>| rule.as_ref() == tool || glob_matches(rule, tool);
        if let Some(rule) = self.deny.iter().chain(&self.denied).find(denies) {
            return Some(WithheldReason::Denied { rule: Arc::clone(rule) });
        }
        let is_allowed = self.allow.is_empty() || self.allow.iter().any(|rule| glob_matches(rule, tool));
        (!is_allowed).then_some(WithheldReason::NotAllowed)
    }

    /// Returns the rules that match none of these tools, which are probably misspelled.
    pub(crate) fn unmatched<'a>(&self, tools: impl Iterator<Item = &'a str> + Clone) -> Vec<Arc<str>> {
        let all = self.allow.iter().chain(&self.deny).chain(&self.denied);
        all.filter(|rule| !tools.clone().any(|tool| rule.as_ref() == tool || glob_matches(rule, tool)))
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deny_wins_and_an_allow_list_is_exhaustive() {
        let owned = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>();
        let mut rules = ToolRules::new(&owned(&["read_*", "list"]), &owned(&["*_secret"]));
        assert_eq!(rules.decide("read_file"), None);
        assert_eq!(rules.decide("write_file"), Some(WithheldReason::NotAllowed));
        assert_eq!(rules.decide("read_secret"), Some(WithheldReason::Denied { rule: "*_secret".into() }));
        rules.set_denied([Arc::from("list")]);
        assert_eq!(rules.decide("list"), Some(WithheldReason::Denied { rule: "list".into() }));
        assert_eq!(rules.unmatched(["read_file", "list"].into_iter()), [Arc::from("*_secret")]);
        assert_eq!(ToolRules::default().decide("anything"), None);
    }
}
