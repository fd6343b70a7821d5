//! Rules a person writes: `allow github/get_*`, `deny mcp__shell`.
//!
//! A rule is written `server/tool`, with globs on both sides; or as the qualified name, `mcp__server__tool`, with
//! `mcp__server` for all of a server and `mcp__*` for everything; or as a bare tool, which is meant on every server.
//!
//! Invariant: where a text could mean two pairs, a rule that allows matches only the one that cannot be mistaken, and
//! a rule that asks or denies matches both. So no server can take a name that lets it use another's permission.

use std::cell::OnceCell;
use std::fmt;
use std::str::FromStr;

use crate::glob::Glob;
use crate::name::{NameLimit, QualifiedName};

/// The longest rule: longer than two names.
const LONGEST: usize = 1024;
const PREFIX: &str = "mcp__";

/// What happens to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It is made.
    Allow,
    /// Somebody is asked first.
    Ask,
    /// It is not made.
    Deny,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

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
    /// `server/tool`.
    Pair { server: Glob, tool: Glob },
    /// `mcp__*`.
    Everything,
    /// `mcp__…`, one name.
    Name(String),
    /// `mcp__…`, with globs.
    Names(Glob),
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
            None if written == "mcp__*" => Pattern::Everything,
            None if written.starts_with(PREFIX) => match Glob::new(written) {
                glob if glob.is_literal() => Pattern::Name(written.to_owned()),
                glob => Pattern::Names(glob),
            },
            None => Pattern::Tool(Glob::new(written)),
        };
        Ok(Self { verdict, pattern, written: written.to_owned() })
    }

    /// What it says.
    #[inline]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Whether it is about this tool of this server.
    pub fn matches(&self, server: &str, tool: &str) -> bool {
        self.is_about(&Names::of(server, tool))
    }

    fn is_about(&self, names: &Names<'_>) -> bool {
        let strict = self.verdict == Verdict::Allow;
        match &self.pattern {
            Pattern::Tool(glob) => glob.matches(names.tool),
            Pattern::Pair { server, tool } => {
                // A server with a slash in its name: the rule may have been cut at the wrong one.
                let elsewhere = || {
                    !strict && names.server.contains('/') && Glob::new(&*self.written).matches(&names.pair())
                };
                server.matches(names.server) && tool.matches(names.tool) || elsewhere()
            }
            Pattern::Everything => true,
            Pattern::Name(name) => {
                let is_either = *name == names.whole || *name == names.raw;
                is_either && (names.is_plain || !strict) || *name == *names.qualified()
            }
            Pattern::Names(glob) => {
                let is_either = glob.matches(&names.whole) || glob.matches(&names.raw);
                is_either && (names.is_plain || !strict) || !strict && glob.matches(names.qualified())
            }
        }
    }
}

/// One tool under every name a rule may have for it, made once for all rules.
struct Names<'a> {
    server: &'a str,
    tool: &'a str,
    /// `mcp__server`.
    whole: String,
    /// `mcp__server__tool`, as it is written by hand.
    raw: String,
    /// Of such a server nothing that begins with its name can belong to another: see the names.
    is_plain: bool,
    qualified: OnceCell<QualifiedName>,
}

impl<'a> Names<'a> {
    fn of(server: &'a str, tool: &'a str) -> Self {
        let whole = [PREFIX, server].concat();
        let raw = [whole.as_str(), "__", tool].concat();
        let is_plain = !server.is_empty() && !server.contains("__") && !server.ends_with('_');
        Self { server, tool, whole, raw, is_plain, qualified: OnceCell::new() }
    }

    /// The name in the catalogue. Made only if it is asked for: it may need a hash.
    fn qualified(&self) -> &str {
        self.qualified.get_or_init(|| QualifiedName::of(self.server, self.tool, NameLimit::DEFAULT)).as_str()
    }

    fn pair(&self) -> String {
        format!("{}/{}", self.server, self.tool)
    }
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

    /// The first rule of each verdict that is about this tool.
    pub fn find(&self, server: &str, tool: &str) -> Found<'_> {
        let mut found = Found::default();
        if self.0.is_empty() {
            return found;
        }
        let names = Names::of(server, tool);
        for rule in &self.0 {
            let place = match rule.verdict {
                Verdict::Allow => &mut found.allow,
                Verdict::Ask => &mut found.ask,
                Verdict::Deny => &mut found.deny,
            };
            if place.is_none() && rule.is_about(&names) {
                *place = Some(rule);
            }
        }
        found
    }

    /// Rules that are about none of these tools: probably a misspelling, and worth a warning.
    pub fn idle<'a>(&'a self, tools: &[(&str, &str)]) -> Vec<&'a Rule> {
        let names: Vec<Names<'_>> = tools.iter().map(|(server, tool)| Names::of(server, tool)).collect();
        self.0.iter().filter(|rule| !names.iter().any(|names| rule.is_about(names))).collect()
    }
}

/// Rules about one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found<'a> {
    /// One that allows it.
    pub allow: Option<&'a Rule>,
    /// One that wants it asked.
    pub ask: Option<&'a Rule>,
    /// One that denies it.
    pub deny: Option<&'a Rule>,
}
