//! Globs over the bases of URIs: `*` is anything within a segment, `**` anything at all.
//!
//! Every glob has two forms, and so has every URI: as normalised, and *flat*: decoded, without empty and dot segments,
//! authority and path alike. A handler may decode `%2F` or ignore a trailing slash; the flat form sees what it would.

use super::address::{ResourceUri, split_scheme};
use super::pattern::{Part, UriPattern, Width};
use crate::percent;

/// A text that is not a glob over URIs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{glob}` is not a glob over URIs: it needs a scheme, and neither a query nor `.` and `..` segments")]
pub struct GlobError {
    /// The text.
    pub glob: String,
}

/// Both forms of a glob, of a URI, or of a pattern with its variables as wildcards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Forms {
    normal: Vec<Token>,
    flat: Vec<Token>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Char(char),
    /// Anything within a segment.
    Star,
    /// Anything.
    Deep,
}

impl Forms {
    pub(super) fn of_glob(text: &str) -> Result<Self, GlobError> {
        let bad = || GlobError { glob: text.to_owned() };
        let (scheme, _) = split_scheme(text).ok_or_else(bad)?;
        let uri: ResourceUri = text.parse().map_err(|_| bad())?;
        let spelled = format!("{}{}", scheme.to_ascii_lowercase(), &text[scheme.len()..]);
        let normal = percent::normal(&spelled).ok_or_else(bad)?;
        if text.contains('?') || normal != uri.base() {
            return Err(bad());
        }
        Ok(Self { normal: tokens(&normal), flat: flat(&tokens(&normal)) })
    }

    pub(super) fn of_uri(uri: &ResourceUri) -> Self {
        let normal: Vec<Token> = uri.base().chars().map(Token::Char).collect();
        Self { flat: flat(&normal), normal }
    }

    /// The variables of a pattern are wildcards.
    pub(super) fn of_pattern(pattern: &UriPattern) -> Self {
        let mut normal = Vec::new();
        for part in pattern.parts() {
            match part {
                Part::Literal(text) => normal.extend(text.chars().map(Token::Char)),
                Part::Var { width: Width::Segment, .. } => normal.push(Token::Star),
                Part::Var { width: Width::Segments, .. } => normal.push(Token::Deep),
            }
        }
        Self { flat: flat(&normal), normal }
    }

    /// Whether everything that `other` stands for is covered in one of the forms.
    pub(super) fn covers_either(&self, other: &Self) -> bool {
        covers(&self.normal, &other.normal) || self.covers_flat(other)
    }

    /// Whether everything that `other` stands for is covered in both forms.
    pub(super) fn covers_both(&self, other: &Self) -> bool {
        covers(&self.normal, &other.normal) && self.covers_flat(other)
    }

    /// Without its trailing slash, a folder is what `folder/**` stands for.
    fn covers_flat(&self, other: &Self) -> bool {
        let folder = self.flat.strip_suffix(&[Token::Char('/'), Token::Deep]);
        covers(&self.flat, &other.flat) || folder.is_some_and(|folder| covers(folder, &other.flat))
    }

    /// Whether there may be a URI that both stand for.
    pub(super) fn meets(&self, other: &Self) -> bool {
        meets(&self.normal, &other.normal)
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for letter in text.chars() {
        match (letter, tokens.last()) {
            ('*', Some(Token::Star)) => {
                tokens.pop();
                tokens.push(Token::Deep);
            }
            ('*', Some(Token::Deep)) => {}
            ('*', _) => tokens.push(Token::Star),
            _ => tokens.push(Token::Char(letter)),
        }
    }
    tokens
}

/// Decoded, and without empty and dot segments after the scheme.
fn flat(normal: &[Token]) -> Vec<Token> {
    let decoded = decoded(normal);
    let colon = decoded.iter().position(|token| *token == Token::Char(':')).map_or(0, |at| at + 1);
    let (scheme, rest) = decoded.split_at(colon);
    let mut segments: Vec<&[Token]> = Vec::new();
    for segment in rest.split(|token| matches!(token, Token::Char('/' | '\\'))) {
        match segment {
            [] | [Token::Char('.')] => {}
            [Token::Char('.'), Token::Char('.')] => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    let mut flat = scheme.to_vec();
    flat.extend(segments.join(&Token::Char('/')));
    flat
}

/// Each run of characters decoded; wildcards stay.
fn decoded(tokens: &[Token]) -> Vec<Token> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut run = String::new();
    for token in tokens.iter().map(Some).chain([None]) {
        if let Some(Token::Char(letter)) = token {
            run.push(*letter);
            continue;
        }
        // A run that cannot be decoded stays as it is; the bases of URIs always can.
        let text = percent::decode(&run).unwrap_or_else(|| run.clone());
        out.extend(text.chars().map(Token::Char));
        run.clear();
        out.extend(token);
    }
    out
}

/// Whether a wildcard takes this token.
fn takes(wildcard: Token, token: Token) -> bool {
    match wildcard {
        Token::Char(_) => wildcard == token,
        Token::Star => token != Token::Char('/') && token != Token::Deep,
        Token::Deep => true,
    }
}

/// Whether the glob matches the text, whose wildcards only a wildcard takes. Costs one times the other.
fn covers(glob: &[Token], text: &[Token]) -> bool {
    // `row[j]`: the rest of the glob covers the text from `j` on.
    let mut row = vec![false; text.len() + 1];
    row[text.len()] = true;
    for token in glob.iter().rev() {
        let mut next = vec![false; text.len() + 1];
        for at in (0..=text.len()).rev() {
            let taken = text.get(at).is_some_and(|found| takes(*token, *found));
            next[at] = match token {
                Token::Char(_) => taken && row[at + 1],
                Token::Star | Token::Deep => row[at] || (taken && next[at + 1]),
            };
        }
        row = next;
    }
    row[0]
}

/// Whether two globs may have a text in common. Costs one times the other.
fn meets(one: &[Token], other: &[Token]) -> bool {
    let mut row = vec![false; other.len() + 1];
    for at in (0..=one.len()).rev() {
        let mut next = vec![false; other.len() + 1];
        for to in (0..=other.len()).rev() {
            next[to] = match (one.get(at), other.get(to)) {
                (None, None) => true,
                (Some(Token::Char(_)), None) | (None, Some(Token::Char(_))) => false,
                (Some(Token::Char(a)), Some(Token::Char(b))) => a == b && row[to + 1],
                (Some(_), None) => row[to],
                (None, Some(_)) => next[to + 1],
                (Some(Token::Char(letter)), Some(wild)) => {
                    next[to + 1] || (takes(*wild, Token::Char(*letter)) && row[to])
                }
                (Some(wild), Some(Token::Char(letter))) => {
                    row[to] || (takes(*wild, Token::Char(*letter)) && next[to + 1])
                }
                (Some(_), Some(_)) => row[to] || next[to + 1],
            };
        }
        row = next;
    }
    row[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> Vec<Token> {
        tokens(text)
    }

    #[test]
    fn wildcards_take_what_they_may() {
        for (pattern, text, fits) in [
            ("a:*", "a:b", true),
            ("a:*", "a:", true),
            ("a:*", "a:b/c", false),
            ("a:**", "a:b/c", true),
            ("a:*/c", "a:b/c", true),
            ("a:**c", "a:b/c", true),
            ("a:b", "a:bc", false),
        ] {
            let text: Vec<Token> = text.chars().map(Token::Char).collect();
            assert_eq!(covers(&glob(pattern), &text), fits, "{pattern}");
        }
        assert!(covers(&glob("a:**"), &glob("a:*/**")));
        assert!(!covers(&glob("a:*"), &glob("a:**")));
    }

    #[test]
    fn globs_meet_when_one_text_fits_both() {
        for (one, other, meet) in [
            ("a:*", "a:b", true),
            ("a:b*", "a:*c", true),
            ("a:b", "a:c", false),
            ("a:x/*", "a:*", false),
            ("a:x/*", "a:**", true),
            ("a:*/y", "a:x/*", true),
            ("b:**", "a:**", false),
        ] {
            assert_eq!(meets(&glob(one), &glob(other)), meet, "{one} {other}");
            assert_eq!(meets(&glob(other), &glob(one)), meet, "{other} {one}");
        }
    }
}
