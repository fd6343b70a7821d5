//! Permission rules: `allow github/get_*`, `deny mcp__shell`.
//!
//! The pattern of a rule is `server/tool`, with globs on both sides; or a qualified name, `mcp__server__tool`, with
//! `mcp__server` for all tools of a server and `mcp__*` for everything; or a bare tool name, which matches on every
//! server.
//!
//! Invariant: where a pattern is ambiguous between two pairs, an allow rule matches only the unambiguous one, and an ask or
//! deny rule matches both. So no server can choose a name that gives it the permissions of another.

use std::cell::OnceCell;
use std::fmt;
use std::str::FromStr;

use crate::glob::Glob;
use crate::name::{NameLimit, QualifiedName};

/// The length limit of a rule: longer than two names.
const MAX_LENGTH: usize = 1024;
const PREFIX: &str = "mcp__";

/// The verdict of a rule or policy about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The call is allowed.
    Allow,
    /// The user is asked first.
    Ask,
    /// The call is denied.
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

/// A verdict for the tools that match a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    verdict: Verdict,
    pattern: RulePattern,
    text: String,
}

/// The parsed pattern of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RulePattern {
    /// `server/tool`.
    Pair { server: Glob, tool: Glob },
    /// `mcp__*`.
    Everything,
    /// `mcp__…` without wildcards.
    Name(String),
    /// `mcp__…` with wildcards.
    Names(Glob),
    /// A tool on any server.
    Tool(Glob),
}

/// Why a rule is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// The pattern is empty.
    #[error("a rule needs a pattern; write server/tool, like github/get_*")]
    Empty,
    /// The rule is too long.
    #[error("this rule is longer than {MAX_LENGTH} bytes")]
    TooLong,
    /// The rule does not begin with a verdict.
    #[error("a rule begins with allow, ask or deny, not with `{0}`")]
    Verdict(String),
}

impl Rule {
    /// Creates a rule.
    ///
    /// # Errors
    /// When the pattern is empty or too long.
    pub fn new(verdict: Verdict, pattern: &str) -> Result<Self, RuleError> {
        let text = pattern.trim();
        if text.is_empty() {
            return Err(RuleError::Empty);
        }
        if text.len() > MAX_LENGTH {
            return Err(RuleError::TooLong);
        }
        let pattern = match text.split_once('/') {
            Some((server, tool)) => RulePattern::Pair { server: Glob::new(server), tool: Glob::new(tool) },
            None if text == "mcp__*" => RulePattern::Everything,
            None if text.starts_with(PREFIX) => match Glob::new(text) {
                glob if glob.is_literal() => RulePattern::Name(text.to_owned()),
                glob => RulePattern::Names(glob),
            },
            None => RulePattern::Tool(Glob::new(text)),
        };
        Ok(Self { verdict, pattern, text: text.to_owned() })
    }

    /// Returns the verdict.
    #[inline]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns whether the rule matches this tool of this server.
    pub fn matches(&self, server: &str, tool: &str) -> bool {
        self.matches_names(&ToolNames::of(server, tool))
    }

    fn matches_names(&self, names: &ToolNames<'_>) -> bool {
        let is_strict = self.verdict == Verdict::Allow;
        match &self.pattern {
            RulePattern::Tool(glob) => glob.matches(names.tool),
            RulePattern::Pair { server, tool } => {
                // The name of a server may contain a slash; the pattern was split at the first one.
                let whole_pair_matches = || {
                    !is_strict && names.server.contains('/') && Glob::new(&*self.text).matches(&names.pair())
                };
                server.matches(names.server) && tool.matches(names.tool) || whole_pair_matches()
            }
            RulePattern::Everything => true,
            RulePattern::Name(name) => {
                let is_either = *name == names.server_prefix || *name == names.raw;
                is_either && (names.is_plain || !is_strict) || *name == *names.qualified()
            }
            RulePattern::Names(glob) => {
                let is_either = glob.matches(&names.server_prefix) || glob.matches(&names.raw);
                is_either && (names.is_plain || !is_strict) || !is_strict && glob.matches(names.qualified())
            }
        }
    }
}

/// All names under which a rule may refer to one tool, computed once for all rules.
struct ToolNames<'a> {
    server: &'a str,
    tool: &'a str,
    /// `mcp__server`.
    server_prefix: String,
    /// `mcp__server__tool` without escaping.
    raw: String,
    /// Whether no other server can have a name that begins with this one; see [`QualifiedName`].
    is_plain: bool,
    qualified: OnceCell<QualifiedName>,
}

impl<'a> ToolNames<'a> {
    fn of(server: &'a str, tool: &'a str) -> Self {
        let server_prefix = [PREFIX, server].concat();
        let raw = [server_prefix.as_str(), "__", tool].concat();
        let is_plain = !server.is_empty() && !server.contains("__") && !server.ends_with('_');
        Self { server, tool, server_prefix, raw, is_plain, qualified: OnceCell::new() }
    }

    /// Returns the name in the catalog; computed on demand, because it may need a hash.
    fn qualified(&self) -> &str {
        self.qualified.get_or_init(|| QualifiedName::new(self.server, self.tool, NameLimit::DEFAULT)).as_str()
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
        write!(f, "{} {}", self.verdict, self.text)
    }
}

/// A set of rules. Order does not matter: deny beats ask beats allow.
///
/// ```
/// use switchboard::host::permission::{Rule, Rules, Verdict};
///
/// let rules = Rules::new([
///     Rule::new(Verdict::Allow, "mcp__files")?, // every tool of the server
///     Rule::new(Verdict::Deny, "mcp__files__delete_*")?,
/// ]);
/// let found = rules.find("files", "delete_all");
/// assert!(found.allow.is_some() && found.deny.is_some()); // a deny rule wins
/// # Ok::<(), switchboard::host::permission::RuleError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// Creates a set of rules.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self(rules.into_iter().collect())
    }

    /// Returns the rules in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.0.iter()
    }

    /// Returns the first matching rule of each verdict.
    pub fn find(&self, server: &str, tool: &str) -> MatchingRules<'_> {
        let mut found = MatchingRules::default();
        if self.0.is_empty() {
            return found;
        }
        let names = ToolNames::of(server, tool);
        for rule in &self.0 {
            let slot = match rule.verdict {
                Verdict::Allow => &mut found.allow,
                Verdict::Ask => &mut found.ask,
                Verdict::Deny => &mut found.deny,
            };
            if slot.is_none() && rule.matches_names(&names) {
                *slot = Some(rule);
            }
        }
        found
    }

    /// Returns the rules that match none of these tools, which are probably misspelled.
    pub fn unmatched<'a>(&'a self, tools: &[(&str, &str)]) -> Vec<&'a Rule> {
        let names: Vec<ToolNames<'_>> =
            tools.iter().map(|(server, tool)| ToolNames::of(server, tool)).collect();
        self.0.iter().filter(|rule| !names.iter().any(|names| rule.matches_names(names))).collect()
    }
}

/// The matching rules of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchingRules<'a> {
    /// The first that allows it.
    pub allow: Option<&'a Rule>,
    /// The first that asks.
    pub ask: Option<&'a Rule>,
    /// The first that denies it.
    pub deny: Option<&'a Rule>,
}
