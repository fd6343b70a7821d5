//! Which tools of a server are shown and may be called: rules as they are written, and why a tool is withheld.
//!
//! One decision for both: a tool that is not in the list cannot be called either.

use std::fmt;
use std::sync::Arc;

use switchboard_config::glob::fits;

/// Why a tool is listed by its server and yet not shown, nor called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Withheld {
    /// A rule denies it.
    Denied {
        /// The rule.
        rule: Arc<str>,
    },
    /// There are rules that allow, and none allows it.
    NotAllowed,
    /// Its name for the model is that of another tool too; which is meant cannot be told.
    Clash {
        /// The servers and tools of that name.
        with: Vec<(Arc<str>, String)>,
    },
    /// Its definition is not the one that was pinned.
    Drifted,
    /// The catalogue is full.
    TooMany {
        /// How many it holds.
        most: usize,
    },
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied { rule } => write!(f, "the rule {rule:?} denies it"),
            Self::NotAllowed => f.write_str("no rule of its server's allow list allows it"),
            Self::Clash { with } => {
                let pairs: Vec<String> =
                    with.iter().map(|(server, tool)| format!("{tool} of {server}")).collect();
                write!(f, "its name stands for several tools: {}", pairs.join(", "))
            }
            Self::Drifted => {
                f.write_str("its definition has changed since it was pinned; look at it and accept it")
            }
            Self::TooMany { most } => write!(f, "the catalogue holds no more than {most} tools"),
        }
    }
}

/// The rules for one server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    allow: Vec<Arc<str>>,
    deny: Vec<Arc<str>>,
    /// Set while running; exact names, and globs all the same.
    denied: Vec<Arc<str>>,
}

impl Rules {
    pub(crate) fn new(allow: &[String], deny: &[String]) -> Self {
        let shared = |rules: &[String]| rules.iter().map(|rule| Arc::from(rule.as_str())).collect();
        Self { allow: shared(allow), deny: shared(deny), denied: Vec::new() }
    }

    pub(crate) fn set_denied(&mut self, tools: impl IntoIterator<Item = Arc<str>>) {
        self.denied = tools.into_iter().collect();
    }

    /// Why a tool is withheld, if it is. Deny wins.
    pub(crate) fn decide(&self, tool: &str) -> Option<Withheld> {
        let denies = |rule: &&Arc<str>| rule.as_ref() == tool || fits(rule, tool);
        if let Some(rule) = self.deny.iter().chain(&self.denied).find(denies) {
            return Some(Withheld::Denied { rule: Arc::clone(rule) });
        }
        let is_allowed = self.allow.is_empty() || self.allow.iter().any(|rule| fits(rule, tool));
        (!is_allowed).then_some(Withheld::NotAllowed)
    }

    /// The rules that match none of these tools: likely misspelt.
    pub(crate) fn idle<'a>(&self, tools: impl Iterator<Item = &'a str> + Clone) -> Vec<Arc<str>> {
        let all = self.allow.iter().chain(&self.deny).chain(&self.denied);
        all.filter(|rule| !tools.clone().any(|tool| rule.as_ref() == tool || fits(rule, tool)))
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deny_wins_and_an_allow_list_is_complete() {
        let owned = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>();
        let mut rules = Rules::new(&owned(&["read_*", "list"]), &owned(&["*_secret"]));
        assert_eq!(rules.decide("read_file"), None);
        assert_eq!(rules.decide("write_file"), Some(Withheld::NotAllowed));
        assert_eq!(rules.decide("read_secret"), Some(Withheld::Denied { rule: "*_secret".into() }));
        rules.set_denied([Arc::from("list")]);
        assert_eq!(rules.decide("list"), Some(Withheld::Denied { rule: "list".into() }));
        assert_eq!(rules.idle(["read_file", "list"].into_iter()), [Arc::from("*_secret")]);
        assert_eq!(Rules::default().decide("anything"), None);
    }
}
