//! A text that a regular expression matches, for the expressions that people write into schemas.
//!
//! Knows literals, classes, groups, choices and counts; of what looks around or refers back it makes nothing.

use std::iter::Peekable;
use std::str::Chars;

/// Longer texts are not made.
const MOST_CHARACTERS: usize = 4_096;
/// Groups deeper than this are not read.
const MOST_DEPTH: usize = 32;

/// A text that matches, with `more` repetitions than needed wherever there may be; `nth` makes it another one.
pub(super) fn matching(pattern: &str, more: usize, nth: usize) -> Option<String> {
    let mut reader = Reader { rest: pattern.chars().peekable(), more, nth, depth: 0 };
    let text = reader.choice()?;
    reader.rest.peek().is_none().then_some(text)
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    more: usize,
    nth: usize,
    depth: usize,
}

impl Reader<'_> {
    /// The first of the choices that are parted by `|`.
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
            if one.len().saturating_mul(times) > MOST_CHARACTERS - text.len().min(MOST_CHARACTERS) {
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
        if self.depth > MOST_DEPTH {
            return None;
        }
        let text = self.choice()?;
        self.depth -= 1;
        self.rest.next_if_eq(&')')?;
        Some(text)
    }

    /// How often what was read is repeated.
    fn count(&mut self) -> Option<usize> {
        let counts = match self.rest.peek() {
            Some('*') => (0, usize::MAX),
            Some('+') => (1, usize::MAX),
            Some('?') => (0, 1),
            Some('{') => {
                self.rest.next();
                return self.counts();
            }
            _ => return Some(1),
        };
        self.rest.next();
        // Lazy or greedy, the text is the same.
        self.rest.next_if_eq(&'?');
        Some(self.chosen(counts))
    }

    fn counts(&mut self) -> Option<usize> {
        let mut inner = String::new();
        while let Some(letter) = self.rest.next_if(|letter| *letter != '}') {
            inner.push(letter);
        }
        self.rest.next()?;
        self.rest.next_if_eq(&'?');
        let (least, most) = match inner.split_once(',') {
            Some((least, "")) => (least.parse().ok()?, usize::MAX),
            Some((least, most)) => (least.parse().ok()?, most.parse().ok()?),
            None => (inner.parse().ok()?, inner.parse().ok()?),
        };
        Some(self.chosen((least, most)))
    }

    fn chosen(&self, (least, most): (usize, usize)) -> usize {
        least.saturating_add(self.more).min(most)
    }

    fn escape(&mut self) -> Option<char> {
        match self.rest.next()? {
            'd' => Some(shifted('1', '9', self.nth)),
            'w' => Some(shifted('a', 'z', self.nth)),
            's' => Some(' '),
            'D' | 'W' | 'S' => Some('-'),
            'n' => Some('\n'),
            't' => Some('\t'),
            letter if letter.is_ascii_alphanumeric() => None,
            letter => Some(letter),
        }
    }

    /// A character of a class; of one that is negated, one that is not in it.
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
            return ranges.first().map(|(first, last)| shifted(*first, *last, self.nth));
        }
        let outside = |letter: &char| !ranges.iter().any(|(first, last)| (first..=last).contains(&letter));
        ('a'..='z').chain(' '..='~').find(outside)
    }
}

/// The `nth` character of a range, and the last one beyond that.
fn shifted(first: char, last: char, nth: usize) -> char {
    (first..=last).nth(nth).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn made(pattern: &str) -> Option<String> {
        matching(pattern, 0, 0)
    }

    #[test]
    fn what_people_write_is_matched() {
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
            for (more, nth) in [(0, 0), (2, 0), (1, 3)] {
                let text = matching(pattern, more, nth).unwrap();
                let schema = json!({"type": "string", "pattern": pattern});
                assert!(crate::schema::misfits(&schema, &json!(text)).is_empty(), "{text:?} in {pattern}");
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
            assert_eq!(made(pattern), None, "{pattern}");
        }
        assert_eq!(made(&"(".repeat(100_000)), None);
    }

    proptest! {
        #[test]
        fn reading_never_panics(pattern in "[a-c0-9|()\\[\\]{}*+?^$\\\\.,:-]{0,16}") {
            let _ = made(&pattern);
        }
    }
}
