//! Globs over URIs without their query: `*` matches within a segment, `**` matches everything.
//!
//! Globs and URIs are compared in two forms: normalized, and *flat*, which is decoded and has no empty and dot segments in
//! authority and path. A handler may decode `%2F` or ignore a trailing slash; the flat form covers these readings.
//!
//! Not `globset` (0.4, 28 more seconds of CPU time in a release build) or another matcher: they match a glob with a text. Policies
//! also need containment and intersection of two globs, since a template is itself a set of URIs.

use super::pattern::{PatternPart, UriPattern, VariableWidth};
use super::resource_uri::ResourceUri;
use crate::{percent, uri_syntax};

/// The error of parsing a URI glob.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{glob}` is not a URI glob: it must have a scheme, and neither a query nor `.` or `..` segments")]
pub struct GlobError {
    /// The rejected text.
    pub glob: String,
}

/// The two forms of a glob, a URI, or a pattern whose variables are wildcards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UriForms {
    normal: Vec<Token>,
    flat: Vec<Token>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Char(char),
    /// `*`: any characters within a segment.
    Star,
    /// `**`: any characters.
    DoubleStar,
}

impl UriForms {
    pub(super) fn from_glob(text: &str) -> Result<Self, GlobError> {
        let bad = || GlobError { glob: text.to_owned() };
        let (scheme, _) = uri_syntax::split_scheme(text).ok_or_else(bad)?;
        let uri: ResourceUri = text.parse().map_err(|_| bad())?;
        let spelled = format!("{}{}", scheme.to_ascii_lowercase(), &text[scheme.len()..]);
        let normal = percent::normalize(&spelled).ok_or_else(bad)?;
        if text.contains('?') || normal != uri.base() {
            return Err(bad());
        }
        Ok(Self { normal: tokens(&normal), flat: flatten(&tokens(&normal)) })
    }

    pub(super) fn from_uri(uri: &ResourceUri) -> Self {
        let normal: Vec<Token> = uri.base().chars().map(Token::Char).collect();
        Self { flat: flatten(&normal), normal }
    }

    /// Converts a pattern; its variables become wildcards.
    pub(super) fn from_pattern(pattern: &UriPattern) -> Self {
        let mut normal = Vec::new();
        for part in pattern.parts() {
            match part {
                PatternPart::Literal(text) => normal.extend(text.chars().map(Token::Char)),
                PatternPart::Variable { width: VariableWidth::Segment, .. } => normal.push(Token::Star),
                PatternPart::Variable { width: VariableWidth::Segments, .. } => {
                    normal.push(Token::DoubleStar)
                }
            }
        }
        Self { flat: flatten(&normal), normal }
    }

    /// Returns whether this glob matches everything that `other` matches, in at least one form.
    pub(super) fn covers_either(&self, other: &Self) -> bool {
        covers(&self.normal, &other.normal) || self.covers_flat(other)
    }

    /// Returns whether this glob matches everything that `other` matches, in both forms.
    pub(super) fn covers_both(&self, other: &Self) -> bool {
        covers(&self.normal, &other.normal) && self.covers_flat(other)
    }

    /// Compares the flat forms. `folder/**` also matches `folder`, whose trailing slash the flat form drops.
    fn covers_flat(&self, other: &Self) -> bool {
        let folder = self.flat.strip_suffix(&[Token::Char('/'), Token::DoubleStar]);
        covers(&self.flat, &other.flat) || folder.is_some_and(|folder| covers(folder, &other.flat))
    }

    /// Returns whether some URI may match both.
    pub(super) fn intersects(&self, other: &Self) -> bool {
        intersects(&self.normal, &other.normal)
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for letter in text.chars() {
        match (letter, tokens.last()) {
            ('*', Some(Token::Star)) => {
                tokens.pop();
                tokens.push(Token::DoubleStar);
            }
            ('*', Some(Token::DoubleStar)) => {}
            ('*', _) => tokens.push(Token::Star),
            _ => tokens.push(Token::Char(letter)),
        }
    }
    tokens
}

/// Returns the flat form: decoded, without empty and dot segments after the scheme.
fn flatten(normal: &[Token]) -> Vec<Token> {
    let decoded = decode_tokens(normal);
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

/// Percent-decodes each run of characters between wildcards.
fn decode_tokens(tokens: &[Token]) -> Vec<Token> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut run = String::new();
    for token in tokens.iter().map(Some).chain([None]) {
        if let Some(Token::Char(letter)) = token {
            run.push(*letter);
            continue;
        }
        // A run that cannot be decoded stays unchanged. The base of a URI can always be decoded.
        let text = percent::decode(&run).unwrap_or_else(|| run.clone());
        out.extend(text.chars().map(Token::Char));
        run.clear();
        out.extend(token);
    }
    out
}

/// Returns whether a token of a glob matches a token of a text.
fn matches_token(wildcard: Token, token: Token) -> bool {
    match wildcard {
        Token::Char(_) => wildcard == token,
        Token::Star => token != Token::Char('/') && token != Token::DoubleStar,
        Token::DoubleStar => true,
    }
}

/// Returns whether the glob matches the text. A wildcard in the text is matched only by a wildcard. O(glob × text).
fn covers(glob: &[Token], text: &[Token]) -> bool {
    // `row[j]`: the rest of the glob matches the text from `j` on.
    let mut row = vec![false; text.len() + 1];
    row[text.len()] = true;
    for token in glob.iter().rev() {
        let mut next = vec![false; text.len() + 1];
        for at in (0..=text.len()).rev() {
            let is_match = text.get(at).is_some_and(|found| matches_token(*token, *found));
            next[at] = match token {
                Token::Char(_) => is_match && row[at + 1],
                Token::Star | Token::DoubleStar => row[at] || (is_match && next[at + 1]),
            };
        }
        row = next;
    }
    row[0]
}

/// Returns whether some text matches both globs. O(one × other).
fn intersects(one: &[Token], other: &[Token]) -> bool {
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
                    next[to + 1] || (matches_token(*wild, Token::Char(*letter)) && row[to])
                }
                (Some(wild), Some(Token::Char(letter))) => {
                    row[to] || (matches_token(*wild, Token::Char(*letter)) && next[to + 1])
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
    fn wildcards_match_within_their_limits() {
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
    fn globs_intersect_if_one_text_matches_both() {
        for (one, other, meet) in [
            ("a:*", "a:b", true),
            ("a:b*", "a:*c", true),
            ("a:b", "a:c", false),
            ("a:x/*", "a:*", false),
            ("a:x/*", "a:**", true),
            ("a:*/y", "a:x/*", true),
            ("b:**", "a:**", false),
        ] {
            assert_eq!(intersects(&glob(one), &glob(other)), meet, "{one} {other}");
            assert_eq!(intersects(&glob(other), &glob(one)), meet, "{other} {one}");
        }
    }
}
