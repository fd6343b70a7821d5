//! [`UriPattern`]: a subset of URI templates (RFC 6570).
//!
//! `{id}` matches one segment, `{+path}` one or more, and `{?limit,tag*}` at the end is the query, where `*` marks a list
//! whose key is repeated. Variables are not empty, and two variables are never adjacent.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::resource_uri::ResourceUri;
use crate::{percent, uri_syntax};

/// The pattern of the URIs of a resource.
///
/// ```
/// use switchboard::service::design::{ResourceUri, UriPattern};
///
/// let pattern: UriPattern = "doc://{id}/pages/{+rest}{?limit,tag*}".parse()?;
/// let uri: ResourceUri = "doc://a%2Fb/pages/1/2?limit=3".parse().expect("a URI");
/// let found = pattern.captures(&uri).expect("it matches");
/// assert_eq!(found, [("id", "a/b".to_owned()), ("rest", "1/2".to_owned())]);
/// # Ok::<(), switchboard::service::design::PatternError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriPattern {
    /// Invariant: starts with a literal that contains the scheme; variables are separated by literals.
    parts: Vec<PatternPart>,
    query: Vec<QueryVariable>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PatternPart {
    /// Normalized text.
    Literal(String),
    /// A path variable.
    Variable { name: String, width: VariableWidth },
}

/// The number of segments that a path variable matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VariableWidth {
    Segment,
    Segments,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct QueryVariable {
    name: String,
    repeated: bool,
}

/// The error of parsing a URI pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// The pattern does not start with a scheme like `doc:`.
    #[error("a URI starts with a scheme, like `doc://`")]
    NoScheme,
    /// A brace is unbalanced.
    #[error("unbalanced `{{` or `}}`")]
    Unbalanced,
    /// An expression is not of the form `{x}`, `{+x}` or `{?x,y*}`.
    #[error("`{{{0}}}` is not of the form `{{x}}`, `{{+x}}` or `{{?x,y*}}`")]
    BadExpression(String),
    /// A variable occurs twice.
    #[error("the variable `{0}` occurs twice")]
    DuplicateVariable(String),
    /// Two variables are adjacent.
    #[error("the variable `{0}` follows another variable without text between them")]
    Adjacent(String),
    /// The query is not at the end.
    #[error("the query must be at the end of the URI")]
    AfterQuery,
    /// A `?`, a `#`, or a character that a URI cannot contain.
    #[error("the character `{0:?}` is not allowed in a URI pattern")]
    BadCharacter(char),
    /// A `%` is not followed by two hexadecimal digits.
    #[error("`%` must be followed by two hexadecimal digits")]
    BrokenEscape,
    /// A segment is `.` or `..`, which normalized URIs do not contain.
    #[error("a URI pattern must not have `.` or `..` segments")]
    DotSegment,
}

impl UriPattern {
    /// Iterates over the path variables, in order.
    pub fn path_variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            PatternPart::Variable { name, .. } => Some(name.as_str()),
            PatternPart::Literal(_) => None,
        })
    }

    /// Iterates over the query variables, in order.
    pub fn query_variables(&self) -> impl Iterator<Item = &str> {
        self.query.iter().map(|var| var.name.as_str())
    }

    /// Returns the URI without its query if the path has no variables.
    pub fn fixed_uri(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [PatternPart::Literal(base)] => Some(base),
            _ => None,
        }
    }

    /// Returns the pattern without its query.
    pub fn base(&self) -> String {
        self.parts.iter().map(PatternPart::to_string).collect()
    }

    pub(super) fn parts(&self) -> &[PatternPart] {
        &self.parts
    }

    /// Adds the variables that the pattern lacks to its query; `true` marks a list.
    #[must_use]
    pub fn with_query<'a>(mut self, variables: impl IntoIterator<Item = (&'a str, bool)>) -> Self {
        for (name, repeated) in variables {
            if let Some(known) = self.query.iter_mut().find(|var| var.name == name) {
                known.repeated |= repeated;
            } else if !self.path_variables().any(|known| known == name) {
                self.query.push(QueryVariable { name: name.to_owned(), repeated });
            }
        }
        self
    }

    /// Returns whether two patterns match the same URIs: they differ at most in variable names and in the query.
    pub fn has_same_uris(&self, other: &Self) -> bool {
        let same = |(one, other): (&PatternPart, &PatternPart)| match (one, other) {
            (PatternPart::Literal(one), PatternPart::Literal(other)) => one == other,
            (PatternPart::Variable { width: one, .. }, PatternPart::Variable { width: other, .. }) => {
                one == other
            }
            (PatternPart::Literal(_), PatternPart::Variable { .. })
            | (PatternPart::Variable { .. }, PatternPart::Literal(_)) => false,
        };
        self.parts.len() == other.parts.len() && self.parts.iter().zip(&other.parts).all(same)
    }

    /// Returns the decoded values of the path variables; `None` if the URI does not match. Variables match lazily.
    pub fn captures(&self, uri: &ResourceUri) -> Option<Vec<(&str, String)>> {
        let text = uri.base();
        let ends = self.ends(text);
        let mut values = Vec::new();
        let mut at = 0;
        for (part, ends) in self.parts.iter().zip(&ends) {
            let end = ends[at]?;
            if let PatternPart::Variable { name, .. } = part {
                values.push((name.as_str(), percent::decode(&text[at..end])?));
            }
            at = end;
        }
        (at == text.len()).then_some(values)
    }

    /// Returns for each part and each start offset the end offset of the part, if the following parts match the rest.
    ///
    /// Computed from the end, so the cost is O(parts × text) for any text. A normalized base is ASCII, so every offset is a
    /// character boundary.
    fn ends(&self, text: &str) -> Vec<Vec<Option<usize>>> {
        let bytes = text.as_bytes();
        let mut table: Vec<Vec<Option<usize>>> = Vec::with_capacity(self.parts.len());
        for part in self.parts.iter().rev() {
            let fits = |at: usize| match table.last() {
                Some(following) => following.get(at).is_some_and(Option::is_some),
                None => at == text.len(),
            };
            let mut ends = vec![None; text.len() + 1];
            for at in (0..=text.len()).rev() {
                ends[at] = match part {
                    PatternPart::Literal(literal) => {
                        let end = at + literal.len();
                        (bytes[at..].starts_with(literal.as_bytes()) && fits(end)).then_some(end)
                    }
                    PatternPart::Variable { .. } if at == text.len() => None,
                    PatternPart::Variable { width: VariableWidth::Segment, .. } if bytes[at] == b'/' => None,
                    PatternPart::Variable { .. } if fits(at + 1) => Some(at + 1),
                    PatternPart::Variable { .. } => ends[at + 1],
                };
            }
            table.push(ends);
        }
        table.reverse();
        table
    }

    /// Returns the URI without its query; `value` returns the text of each variable.
    pub(super) fn write_base<E>(&self, value: impl Fn(&str) -> Result<String, E>) -> Result<String, E> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                PatternPart::Literal(text) => out.push_str(text),
                PatternPart::Variable { name, width: VariableWidth::Segment } => {
                    percent::encode(&value(name)?, &mut out)
                }
                PatternPart::Variable { name, width: VariableWidth::Segments } => {
                    percent::encode_path(&value(name)?, &mut out)
                }
            }
        }
        Ok(out)
    }
}

impl FromStr for UriPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let mut pattern = Self { parts: Vec::new(), query: Vec::new() };
        let mut rest = text;
        while !rest.is_empty() {
            if !pattern.query.is_empty() {
                return Err(PatternError::AfterQuery);
            }
            let literal = &rest[..rest.find(['{', '}']).unwrap_or(rest.len())];
            if !literal.is_empty() {
                pattern.parts.push(PatternPart::Literal(normalize_literal(literal)?));
            }
            rest = &rest[literal.len()..];
            if rest.is_empty() {
                break;
            }
            let inner = rest.strip_prefix('{').ok_or(PatternError::Unbalanced)?;
            let (inner, after) = inner.split_once('}').ok_or(PatternError::Unbalanced)?;
            pattern.push_expression(inner)?;
            rest = after;
        }
        pattern.finish()
    }
}

impl UriPattern {
    fn push_expression(&mut self, inner: &str) -> Result<(), PatternError> {
        let bad = || PatternError::BadExpression(inner.to_owned());
        if let Some(names) = inner.strip_prefix('?') {
            for name in names.split(',') {
                let (name, repeated) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
                self.check_variable(name, bad)?;
                self.query.push(QueryVariable { name: name.to_owned(), repeated });
            }
            return Ok(());
        }
        let (name, width) = match inner.strip_prefix('+') {
            Some(name) => (name, VariableWidth::Segments),
            None => (inner, VariableWidth::Segment),
        };
        self.check_variable(name, bad)?;
        if matches!(self.parts.last(), Some(PatternPart::Variable { .. })) {
            return Err(PatternError::Adjacent(name.to_owned()));
        }
        self.parts.push(PatternPart::Variable { name: name.to_owned(), width });
        Ok(())
    }

    fn check_variable(&self, name: &str, bad: impl Fn() -> PatternError) -> Result<(), PatternError> {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || !name.bytes().all(inner) {
            return Err(bad());
        }
        if self.path_variables().chain(self.query_variables()).any(|known| known == name) {
            return Err(PatternError::DuplicateVariable(name.to_owned()));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Self, PatternError> {
        let Some(PatternPart::Literal(first)) = self.parts.first_mut() else {
            return Err(PatternError::NoScheme);
        };
        let (scheme, rest) = uri_syntax::split_scheme(first).ok_or(PatternError::NoScheme)?;
        *first = format!("{}:{rest}", scheme.to_ascii_lowercase());
        // With a letter for each variable, the pattern must be in normal form.
        let sample = self.write_base(|_| Ok::<_, PatternError>("x".to_owned()))?;
        let normal = sample.parse::<ResourceUri>().map_err(|_| PatternError::NoScheme)?;
        if normal.base() != sample {
            return Err(PatternError::DotSegment);
        }
        Ok(self)
    }
}

/// Normalizes the percent-escapes of the text between expressions; rejects whitespace, `?` and `#`.
fn normalize_literal(text: &str) -> Result<String, PatternError> {
    let refused =
        |letter: &char| letter.is_control() || letter.is_whitespace() || matches!(letter, '?' | '#');
    match text.chars().find(refused) {
        Some(letter) => Err(PatternError::BadCharacter(letter)),
        None => percent::normalize(text).ok_or(PatternError::BrokenEscape),
    }
}

impl fmt::Display for PatternPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(text) => f.write_str(text),
            Self::Variable { name, width: VariableWidth::Segment } => write!(f, "{{{name}}}"),
            Self::Variable { name, width: VariableWidth::Segments } => write!(f, "{{+{name}}}"),
        }
    }
}

/// Writes the pattern as a URI template (RFC 6570).
impl fmt::Display for UriPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| part.fmt(f))?;
        for (at, var) in self.query.iter().enumerate() {
            let open = if at == 0 { "{?" } else { "," };
            write!(f, "{open}{}{}", var.name, if var.repeated { "*" } else { "" })?;
        }
        if self.query.is_empty() { Ok(()) } else { f.write_str("}") }
    }
}

impl Serialize for UriPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UriPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(text: &str) -> UriPattern {
        text.parse().unwrap()
    }

    fn captures(text: &str, uri: &str) -> Option<Vec<String>> {
        let found =
            pattern(text).captures(&uri.parse().unwrap())?.into_iter().map(|(_, value)| value).collect();
        Some(found)
    }

    #[test]
    fn patterns_match_normalized_uris() {
        let some = |values: &[&str]| Some(values.iter().map(ToString::to_string).collect());
        assert_eq!(captures("doc://list", "DOC://list?x=1"), some(&[]));
        assert_eq!(captures("doc://list", "doc://lists"), None);
        assert_eq!(captures("doc://{id}", "doc://7"), some(&["7"]));
        assert_eq!(captures("doc://{id}", "doc://"), None);
        assert_eq!(captures("doc://{id}", "doc://a/b"), None);
        assert_eq!(captures("doc://{id}", "doc://a%2Fb%20c"), some(&["a/b c"]));
        assert_eq!(captures("file:///{+path}", "file:///a/../b/c"), some(&["b/c"]));
        assert_eq!(captures("x://{a}/{+b}/end", "x://1/2/end/3/end"), some(&["1", "2/end/3"]));
        assert_eq!(captures("x://{name}.{kind}", "x://a.tar.gz"), some(&["a", "tar.gz"]));
    }

    #[test]
    fn invalid_patterns_are_rejected_with_a_reason() {
        let fails = |text: &str| text.parse::<UriPattern>().unwrap_err();
        assert_eq!(fails("list"), PatternError::NoScheme);
        assert_eq!(fails("{x}://a"), PatternError::NoScheme);
        assert_eq!(fails("doc://{id"), PatternError::Unbalanced);
        assert_eq!(fails("doc://id}"), PatternError::Unbalanced);
        assert_eq!(fails("doc://{i d}"), PatternError::BadExpression("i d".into()));
        assert_eq!(fails("doc://{#id}"), PatternError::BadExpression("#id".into()));
        assert_eq!(fails("doc://{a}/{a}"), PatternError::DuplicateVariable("a".into()));
        assert_eq!(fails("doc://{a}{b}"), PatternError::Adjacent("b".into()));
        assert_eq!(fails("doc://a{?b}/c"), PatternError::AfterQuery);
        assert_eq!(fails("doc://a?b=1"), PatternError::BadCharacter('?'));
        assert_eq!(fails("doc://a b"), PatternError::BadCharacter(' '));
        assert_eq!(fails("doc://a%2"), PatternError::BrokenEscape);
        assert_eq!(fails("doc://a/../b"), PatternError::DotSegment);
    }

    #[test]
    fn missing_variables_are_added_to_the_query() {
        let with = pattern("doc://{id}{?limit}").with_query([("id", false), ("limit", false), ("tag", true)]);
        assert_eq!(with.to_string(), "doc://{id}{?limit,tag*}");
        assert_eq!(with, with.to_string().parse().unwrap());
        assert_eq!(with.base(), "doc://{id}");
        assert_eq!(with.fixed_uri(), None);
        assert_eq!(pattern("doc://list").fixed_uri(), Some("doc://list"));
    }

    #[test]
    fn matching_a_hostile_uri_is_not_exponential() {
        let text = "x://{+a}-{+b}-{+c}-{+d}-{+e}-{+f}!";
        let uri = format!("x://{}", "-".repeat(8000));
        assert_eq!(pattern(text).captures(&uri.parse().unwrap()), None);
    }

    proptest! {
        #[test]
        fn decoding_never_panics(text in "[a-z:/{}?+*,.%0-9]{0,24}", uri in "[a-z]:[ -~]{0,20}") {
            if let (Ok(pattern), Ok(uri)) = (text.parse::<UriPattern>(), uri.parse()) {
                let _ = pattern.captures(&uri);
                prop_assert_eq!(pattern.to_string().parse::<UriPattern>().unwrap(), pattern);
            }
        }
    }
}
