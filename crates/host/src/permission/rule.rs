//! Rules a person writes: `allow github/get_*`, `deny mcp__shell`.
//!
//! A rule is written `server/tool`, with globs on both sides; or as the qualified name, `mcp__server__tool`, with
//! `mcp__server` for all of a server and `mcp__*` for everything; or as a bare tool, which is meant on every server.
//!
//! Invariant: where a text could mean two pairs, a rule that allows matches only the one that cannot be mistaken, and
//! a rule that asks or denies matches both. So no server can take a name that lets it use another's permission.

use std::fmt;
use std::str::FromStr;

use crate::permission::glob::Glob;
use crate::permission::verdict::Verdict;
use crate::registry::name::{NameLimit, QualifiedName};

/// The longest rule: longer than two names.
const LONGEST: usize = 1024;
const PREFIX: &str = "mcp__";

/// What is said of the tools that match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    verdict: Verdict,
    pattern: Pattern,
    written: String,
}

/// What a rule matches.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    /// `server/tool`; the whole text is kept for servers with a slash in their name.
    Pair { server: Glob, tool: Glob },
    /// `mcp__…`.
    Qualified(Glob),
    /// A tool on any server.
    Tool(Glob),
}

/// A rule that says nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// There is nothing to match.
    #[error("a rule needs a pattern; write server/tool, like github/get_*")]
    Empty,
    /// It is longer than any name.
    #[error("this rule is longer than {LONGEST} bytes")]
    TooLong,
    /// The first word is none of the three.
    #[error("a rule begins with allow, ask or deny, not with `{0}`")]
    Verdict(String),
}

impl Rule {
    /// A rule for what matches the pattern.
    ///
    /// # Errors
    /// When the pattern is empty or longer than any name.
    pub fn new(verdict: Verdict, pattern: &str) -> Result<Self, RuleError> {
        let written = pattern.trim();
        if written.is_empty() {
            return Err(RuleError::Empty);
        }
        if written.len() > LONGEST {
            return Err(RuleError::TooLong);
        }
        let pattern = match written.split_once('/') {
            Some((server, tool)) => Pattern::Pair { server: Glob::new(server), tool: Glob::new(tool) },
            None if written.starts_with(PREFIX) => Pattern::Qualified(Glob::new(written)),
            None => Pattern::Tool(Glob::new(written)),
        };
        Ok(Self { verdict, pattern, written: written.to_owned() })
    }

    /// What it says.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Whether it is about this tool of this server.
    pub fn matches(&self, server: &str, tool: &str) -> bool {
        let strict = self.verdict == Verdict::Allow;
        match &self.pattern {
            Pattern::Tool(glob) => glob.matches(tool),
            Pattern::Pair { server: servers, tool: tools } => {
                servers.matches(server) && tools.matches(tool)
                    || !strict && server.contains('/') && self.fits_elsewhere(server, tool)
            }
            Pattern::Qualified(glob) => qualified(glob, server, tool, strict),
        }
    }

    /// A server with a slash in its name: the rule may have been cut at the wrong one.
    fn fits_elsewhere(&self, server: &str, tool: &str) -> bool {
        Glob::new(self.written.as_str()).matches(&format!("{server}/{tool}"))
    }
}

fn qualified(glob: &Glob, server: &str, tool: &str, strict: bool) -> bool {
    if glob.as_str() == "mcp__*" {
        return true;
    }
    let name = QualifiedName::of(server, tool, NameLimit::DEFAULT);
    if glob.is_literal() && glob.as_str() == name.as_str() {
        return true;
    }
    let whole = format!("{PREFIX}{server}");
    let raw = format!("{whole}__{tool}");
    // Of such a server nothing that begins with its name can belong to another: see the names.
    let is_plain = !server.is_empty() && !server.contains("__") && !server.ends_with('_');
    if is_plain && (glob.matches(&whole) || glob.matches(&raw)) {
        return true;
    }
    !strict && (glob.matches(&whole) || glob.matches(&raw) || glob.matches(name.as_str()))
}

impl FromStr for Rule {
    type Err = RuleError;

    /// Reads `allow PATTERN`, `ask PATTERN` or `deny PATTERN`.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        let (word, pattern) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let verdict = match word {
            "allow" => Verdict::Allow,
            "ask" => Verdict::Ask,
            "deny" => Verdict::Deny,
            "" => return Err(RuleError::Empty),
            other => return Err(RuleError::Verdict(other.chars().take(40).collect())),
        };
        Self::new(verdict, pattern)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verdict, self.written)
    }
}

/// All rules. Their order means nothing: deny beats ask beats allow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// These rules.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self(rules.into_iter().collect())
    }

    /// The rules as given.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.0.iter()
    }

    /// A rule of this verdict that is about this tool.
    pub fn find(&self, verdict: Verdict, server: &str, tool: &str) -> Option<&Rule> {
        self.0.iter().find(|rule| rule.verdict == verdict && rule.matches(server, tool))
    }

    /// Rules that are about none of these tools: probably a misspelling, and worth a warning.
    pub fn idle<'a>(&'a self, tools: &[(&str, &str)]) -> Vec<&'a Rule> {
        self.0.iter().filter(|rule| !tools.iter().any(|(server, tool)| rule.matches(server, tool))).collect()
    }
}
