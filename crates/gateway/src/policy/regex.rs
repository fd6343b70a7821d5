//! Regular expressions of rules: linear time, bounded size.
//!
//! The engine is `regex-automata`, on which the crate `regex` is built and which the schema validator uses already. A
//! pattern matches the whole text, and `.` matches a line break too: otherwise a line break would take a text out of
//! reach of a deny rule.

use std::fmt;

use parking_lot::Mutex;
use regex_automata::nfa::thompson::pikevm::{Cache, PikeVM};
use regex_automata::nfa::thompson::{Config, NFA, WhichCaptures};
use regex_automata::util::syntax;

/// The maximum length of a pattern.
pub(super) const MAX_PATTERN_BYTES: usize = 4 * 1024;
/// The maximum memory of a compiled pattern.
const MAX_COMPILED_BYTES: usize = 256 * 1024;
/// The maximum length of a text that is matched. The cost is the length times the size of the pattern.
pub(super) const MAX_TEXT_BYTES: usize = 16 * 1024;

/// A compiled pattern.
pub(super) struct Regex {
    source: String,
    engine: PikeVM,
    /// Reused by one search at a time.
    cache: Mutex<Option<Cache>>,
}

impl Regex {
    /// Compiles a pattern. The error says why it cannot be used.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        if source.len() > MAX_PATTERN_BYTES {
            return Err(format!("the pattern is longer than {MAX_PATTERN_BYTES} bytes"));
        }
        // The pattern is compiled alone first, so that a stray parenthesis cannot leave the group.
        compile(source)?;
        let engine = PikeVM::new_from_nfa(compile(&format!(r"\A(?:{source})\z"))?)
            .map_err(|error| error.to_string())?;
        Ok(Self { source: source.to_owned(), engine, cache: Mutex::new(None) })
    }

    /// Returns whether the pattern matches the whole text; `None` if the text is too long to be matched.
    pub(super) fn matches(&self, text: &str) -> Option<bool> {
        if text.len() > MAX_TEXT_BYTES {
            return None;
        }
        // A concurrent search creates a cache of its own instead of waiting.
        match self.cache.try_lock() {
            Some(mut cache) => {
                let cache = cache.get_or_insert_with(|| self.engine.create_cache());
                Some(self.engine.is_match(cache, text))
            }
            None => Some(self.engine.is_match(&mut self.engine.create_cache(), text)),
        }
    }
}

fn compile(source: &str) -> Result<NFA, String> {
    let config = Config::new().nfa_size_limit(Some(MAX_COMPILED_BYTES)).which_captures(WhichCaptures::None);
    let syntax = syntax::Config::new().nest_limit(50).dot_matches_new_line(true);
    NFA::compiler().syntax(syntax).configure(config).build(source).map_err(|error| match error.size_limit() {
        Some(_) => format!("the compiled pattern needs more than {} KiB", MAX_COMPILED_BYTES / 1024),
        None => {
            let cause =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            cause.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
        }
    })
}

impl PartialEq for Regex {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Regex").field(&self.source).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_text_is_matched() {
        let matches = |pattern: &str, text: &str| Regex::new(pattern).unwrap().matches(text).unwrap();
        assert!(matches("/srv/.*", "/srv/a"));
        assert!(!matches("/srv/.*", "x/srv/a"));
        assert!(matches("/etc/.*", "/etc/\npasswd"), "a line break does not hide the text");
        assert!(!matches("a|b", "ab"));
        assert!(!matches("a", "a\n"));
        assert!(matches("(?i)prod", "PROD"));
        assert!(!matches("prod", "PROD"));
    }

    #[test]
    fn invalid_and_large_patterns_are_rejected() {
        for pattern in ["(", "a)(b", "[z-a]", r"\1", "(?=a)", "a{1000}{1000}", &"a".repeat(5000)] {
            assert!(Regex::new(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_long_text_is_not_matched() {
        let regex = Regex::new("(a*)*b").unwrap();
        assert_eq!(regex.matches(&"a".repeat(MAX_TEXT_BYTES)), Some(false));
        assert_eq!(regex.matches(&"a".repeat(MAX_TEXT_BYTES + 1)), None);
    }
}
