//! Generates a string that matches a regular expression.
//!
//! Supports literals, classes, groups, alternatives and quantifiers; lookaround and backreferences are not supported.

use std::iter::Peekable;
use std::str::Chars;

/// The maximum length of a generated string.
const MAX_BYTES: usize = 4_096;
/// The maximum nesting of groups.
const MAX_DEPTH: usize = 32;

/// Returns a matching string; `None` for an unsupported pattern. Quantifiers are repeated `extra` times more than
/// required where their maximum allows it. Different values of `nth` give different strings where possible.
pub(super) fn matching_string(pattern: &str, extra: usize, nth: usize) -> Option<String> {
    let mut sampler = Sampler { rest: pattern.chars().peekable(), extra, nth, depth: 0 };
    let text = sampler.choice()?;
    sampler.rest.peek().is_none().then_some(text)
}

struct Sampler<'a> {
    rest: Peekable<Chars<'a>>,
    extra: usize,
    nth: usize,
    depth: usize,
}

impl Sampler<'_> {
    /// Parses alternatives separated by `|` and samples the first.
    fn choice(&mut self) -> Option<String> {
        let first = self.sequence()?;
        while self.rest.next_if_eq(&'|').is_some() {
            self.sequence()?;
        }
        Some(first)
    }

    fn sequence(&mut self) -> Option<String> {
        let mut text = String::new();
        while let Some(letter) = self.rest.next_if(|letter| !matches!(letter, '|' | ')')) {
            let one = match letter {
                '^' | '$' => continue,
                '(' => self.group()?,
                '[' => self.class()?.to_string(),
                '\\' => self.escape()?.to_string(),
                '.' => "a".to_owned(),
                '*' | '+' | '?' | '{' => return None,
                letter => letter.to_string(),
            };
            let times = self.count()?;
            if one.len().saturating_mul(times) > MAX_BYTES - text.len().min(MAX_BYTES) {
                return None;
            }
            text.push_str(&one.repeat(times));
        }
        Some(text)
    }

    fn group(&mut self) -> Option<String> {
        if self.rest.next_if_eq(&'?').is_some() {
            self.rest.next_if_eq(&':')?;
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let text = self.choice()?;
        self.depth -= 1;
        self.rest.next_if_eq(&')')?;
        Some(text)
    }

    /// Parses an optional quantifier and returns the number of repetitions.
    fn count(&mut self) -> Option<usize> {
        let counts = match self.rest.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                self.rest.next();
                return self.braced_count();
            }
            _ => return Some(1),
        };
        self.rest.next();
        // Whether it is lazy or greedy makes no difference here.
        self.rest.next_if_eq(&'?');
        Some(self.repetitions(counts))
    }

    /// Parses the rest of `{n}`, `{n,}` or `{n,m}`.
    fn braced_count(&mut self) -> Option<usize> {
        let mut inner = String::new();
        while let Some(letter) = self.rest.next_if(|letter| *letter != '}') {
            inner.push(letter);
        }
        self.rest.next()?;
        self.rest.next_if_eq(&'?');
        let (min, max) = match inner.split_once(',') {
            Some((min, "")) => (min.parse().ok()?, usize::MAX),
            Some((min, max)) => (min.parse().ok()?, max.parse().ok()?),
            None => (inner.parse().ok()?, inner.parse().ok()?),
        };
        Some(self.repetitions((min, max)))
    }

    fn repetitions(&self, (min, max): (usize, usize)) -> usize {
        min.saturating_add(self.extra).min(max)
    }

    fn escape(&mut self) -> Option<char> {
        match self.rest.next()? {
            'd' => Some(nth_in_range('1', '9', self.nth)),
            'w' => Some(nth_in_range('a', 'z', self.nth)),
            's' => Some(' '),
            'D' | 'W' | 'S' => Some('-'),
            'n' => Some('\n'),
            't' => Some('\t'),
            letter if letter.is_ascii_alphanumeric() => None,
            letter => Some(letter),
        }
    }

    /// Parses a character class and returns a character that it matches.
    fn class(&mut self) -> Option<char> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut ranges: Vec<(char, char)> = Vec::new();
        loop {
            let first = match self.rest.next()? {
                ']' => break,
                '\\' => match self.rest.next()? {
                    'd' => {
                        ranges.push(('0', '9'));
                        continue;
                    }
                    'w' => {
                        ranges.extend([('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]);
                        continue;
                    }
                    's' => ' ',
                    letter if letter.is_ascii_alphanumeric() => return None,
                    letter => letter,
                },
                letter => letter,
            };
            let mut ahead = self.rest.clone();
            let range =
                ahead.next() == Some('-') && ahead.peek().is_some_and(|last| !matches!(last, ']' | '\\'));
            let last = if range { self.rest.nth(1)? } else { first };
            ranges.push((first, last));
        }
        if !negated {
            return ranges.first().map(|(first, last)| nth_in_range(*first, *last, self.nth));
        }
        let outside = |letter: &char| !ranges.iter().any(|(first, last)| (first..=last).contains(&letter));
        ('a'..='z').chain(' '..='~').find(outside)
    }
}

/// Returns the `nth` character of a range, or the last one if the range is shorter.
fn nth_in_range(first: char, last: char, nth: usize) -> char {
    (first..=last).nth(nth).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn sample(pattern: &str) -> Option<String> {
        matching_string(pattern, 0, 0)
    }

    #[test]
    fn common_patterns_are_sampled() {
        for pattern in [
            "^[a-z][a-z0-9_-]*$",
            "^\\d{4}-\\d{2}-\\d{2}$",
            "^(foo|bar)+$",
            "^#[0-9A-Fa-f]{6}$",
            "^\\+?[1-9]\\d{1,14}$",
            "^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$",
            "^(?:https?)://[\\w.-]+/?$",
            "a{2,3}?b",
            "^v\\d+(\\.\\d+){2}$",
        ] {
            for (extra, nth) in [(0, 0), (2, 0), (1, 3)] {
                let text = matching_string(pattern, extra, nth).unwrap();
                let schema = json!({"type": "string", "pattern": pattern});
                assert!(
                    crate::schema::validation_issues(&schema, &json!(text)).is_empty(),
                    "{text:?} in {pattern}"
                );
            }
        }
        for pattern in [
            "(?=a)",
            "(a)\\1",
            "\\p{L}",
            "a{",
            "(a",
            "[a",
            "a{9999999}",
            "*a",
            "[]",
            "a{18446744073709551615}",
        ] {
            assert_eq!(sample(pattern), None, "{pattern}");
        }
        assert_eq!(sample(&"(".repeat(100_000)), None);
    }

    proptest! {
        #[test]
        fn parsing_never_panics(pattern in "[a-c0-9|()\\[\\]{}*+?^$\\\\.,:-]{0,16}") {
            let _ = sample(&pattern);
        }
    }
}
