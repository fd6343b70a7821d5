//! Patterns with `*` for any run of characters and `?` for one.
//!
//! Invariant: matching takes at most pattern times text steps and no memory, so that no pattern or name can hold a
//! call up.

use std::fmt;

/// A pattern. Everything but `*` and `?` stands for itself, in its case.
///
/// ```
/// use switchboard::host::permission::Glob;
///
/// assert!(Glob::new("read_*").matches("read_file"));
/// assert!(!Glob::new("read_*").matches("write_file"));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Glob(Box<str>);

impl Glob {
    /// Takes the pattern; every text is one.
    pub fn new(pattern: impl Into<Box<str>>) -> Self {
        Self(pattern.into())
    }

    /// The pattern as written.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it matches only itself.
    pub fn is_literal(&self) -> bool {
        !self.0.contains(['*', '?'])
    }

    /// Whether the whole text fits.
    #[inline]
    pub fn matches(&self, text: &str) -> bool {
        fits(&self.0, text)
    }
}

/// Whether the whole text fits a pattern.
pub fn fits(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut rest) = (pattern.chars(), text.chars());
    // The last star, and the text it has not taken yet.
    let mut star: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let (mut next, mut left) = (pattern.clone(), rest.clone());
        match (next.next(), left.next()) {
            (Some('*'), _) => {
                star = Some((next.clone(), rest.clone()));
                pattern = next;
            }
            (Some('?'), Some(_)) => (pattern, rest) = (next, left),
            (Some(wanted), Some(found)) if wanted == found => (pattern, rest) = (next, left),
            (None, None) => return true,
            // Does not fit: the last star takes one more, if there is one and there is more.
            _ => {
                let Some((after, taken)) = &mut star else { return false };
                if taken.next().is_none() {
                    return false;
                }
                (pattern, rest) = (after.clone(), taken.clone());
            }
        }
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, fits) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything", true),
            ("a*", "a", true),
            ("*a", "ba", true),
            ("*a", "ab", false),
            ("a*b*c", "a_b_b_c", true),
            ("a*b*c", "a_c_b", false),
            ("a?c", "abc", true),
            ("a?c", "aéc", true),
            ("a?c", "ac", false),
            ("**", "x", true),
            ("Read", "read", false),
            ("[a]", "[a]", true),
            ("*.*", "a.b", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn a_hostile_pattern_is_not_slow() {
        let pattern = format!("{}b", "*a".repeat(1000));
        assert!(!Glob::new(pattern).matches(&"a".repeat(10_000)));
    }
}
