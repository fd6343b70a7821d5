//! The pattern of a resource's URIs: a subset of URI templates (RFC 6570).
//!
//! `{id}` is one segment, `{+path}` may have several, `{?limit,tag*}` at the end is the query; `*` marks a list, given by
//! repeating it. No variable is empty, and no two stand side by side.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::address::{ResourceUri, split_scheme};
use crate::percent;

/// The pattern of a resource's URIs.
///
/// ```
/// use switchboard::design::{ResourceUri, UriPattern};
///
/// let pattern: UriPattern = "doc://{id}/pages/{+rest}{?limit,tag*}".parse()?;
/// let uri: ResourceUri = "doc://a%2Fb/pages/1/2?limit=3".parse().expect("a URI");
/// let found = pattern.captures(&uri).expect("it matches");
/// assert_eq!(found, [("id", "a/b".to_owned()), ("rest", "1/2".to_owned())]);
/// # Ok::<(), switchboard::design::PatternError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UriPattern {
    /// Invariant: starts with a literal that has the scheme; variables are parted by literals.
    parts: Vec<Part>,
    query: Vec<QueryVar>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Normalised text.
    Literal(String),
    /// A variable of the path.
    Var { name: String, width: Width },
}

/// How much of a path a variable may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    Segment,
    Segments,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct QueryVar {
    name: String,
    repeated: bool,
}

/// A text that is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It does not begin with a scheme like `doc:`.
    #[error("a URI begins with a scheme, like `doc://`")]
    NoScheme,
    /// A brace has no partner.
    #[error("a `{{` or `}}` has no partner")]
    Unbalanced,
    /// What stands between braces is none of `{{x}}`, `{{+x}}`, `{{?x,y*}}`.
    #[error("`{{{0}}}` is none of `{{x}}`, `{{+x}}`, `{{?x,y*}}`")]
    BadExpression(String),
    /// A variable stands twice.
    #[error("the variable `{0}` stands twice")]
    Twice(String),
    /// Two variables have no text between them.
    #[error("the variable `{0}` follows another without text between them")]
    Adjacent(String),
    /// Something follows the query.
    #[error("nothing may follow the query")]
    AfterQuery,
    /// A `?`, a `#`, or a character that no URI has.
    #[error("`{0:?}` may not stand in the pattern of a URI")]
    BadCharacter(char),
    /// A `%` that two hexadecimal digits do not follow.
    #[error("`%` must be followed by two hexadecimal digits")]
    BrokenEscape,
    /// A `.` or `..` as a whole segment, which no normalised URI has.
    #[error("`.` and `..` are no segments of a pattern")]
    DotSegment,
}

impl UriPattern {
    /// The variables of the path, in order.
    pub fn path_variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Var { name, .. } => Some(name.as_str()),
            Part::Literal(_) => None,
        })
    }

    /// The variables of the query, in order.
    pub fn query_variables(&self) -> impl Iterator<Item = &str> {
        self.query.iter().map(|var| var.name.as_str())
    }

    /// The one base URI it stands for, when the path has no variables.
    pub fn fixed(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Literal(base)] => Some(base),
            _ => None,
        }
    }

    /// The pattern without its query.
    pub fn base(&self) -> String {
        self.parts.iter().map(Part::to_string).collect()
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The same, with those of the variables in the query that are nowhere in it yet; `true` marks a list.
    #[must_use]
    pub fn with_query<'a>(mut self, variables: impl IntoIterator<Item = (&'a str, bool)>) -> Self {
        for (name, repeated) in variables {
            if let Some(known) = self.query.iter_mut().find(|var| var.name == name) {
                known.repeated |= repeated;
            } else if !self.path_variables().any(|known| known == name) {
                self.query.push(QueryVar { name: name.to_owned(), repeated });
            }
        }
        self
    }

    /// Whether every URI of one is a URI of the other: they differ in the names of variables and in the query at most.
    pub fn has_same_uris(&self, other: &Self) -> bool {
        let same = |(one, other): (&Part, &Part)| match (one, other) {
            (Part::Literal(one), Part::Literal(other)) => one == other,
            (Part::Var { width: one, .. }, Part::Var { width: other, .. }) => one == other,
            (Part::Literal(_), Part::Var { .. }) | (Part::Var { .. }, Part::Literal(_)) => false,
        };
        self.parts.len() == other.parts.len() && self.parts.iter().zip(&other.parts).all(same)
    }

    /// The values of the path's variables, decoded, when the URI fits. A variable takes as little as it can.
    pub fn captures(&self, uri: &ResourceUri) -> Option<Vec<(&str, String)>> {
        let text = uri.base();
        let ends = self.ends(text);
        let mut values = Vec::new();
        let mut at = 0;
        for (part, ends) in self.parts.iter().zip(&ends) {
            let end = ends[at]?;
            if let Part::Var { name, .. } = part {
                values.push((name.as_str(), percent::decode(&text[at..end])?));
            }
            at = end;
        }
        (at == text.len()).then_some(values)
    }

    /// For each part and each place in the text: where the part ends that begins there, if all that follow fit.
    ///
    /// Filled from the end, so that the cost is parts times text whatever the text is. A normalised base is ASCII, so
    /// every place is a boundary.
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
                    Part::Literal(literal) => {
                        let end = at + literal.len();
                        (bytes[at..].starts_with(literal.as_bytes()) && fits(end)).then_some(end)
                    }
                    Part::Var { .. } if at == text.len() => None,
                    Part::Var { width: Width::Segment, .. } if bytes[at] == b'/' => None,
                    Part::Var { .. } if fits(at + 1) => Some(at + 1),
                    Part::Var { .. } => ends[at + 1],
                };
            }
            table.push(ends);
        }
        table.reverse();
        table
    }

    /// Writes the base of a URI; `value` gives the text of each variable.
    pub(super) fn write_base<E>(&self, value: impl Fn(&str) -> Result<String, E>) -> Result<String, E> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Var { name, width: Width::Segment } => percent::encode(&value(name)?, &mut out),
                Part::Var { name, width: Width::Segments } => percent::encode_path(&value(name)?, &mut out),
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
                pattern.parts.push(Part::Literal(self::literal(literal)?));
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
                self.expect_new(name, bad)?;
                self.query.push(QueryVar { name: name.to_owned(), repeated });
            }
            return Ok(());
        }
        let (name, width) = match inner.strip_prefix('+') {
            Some(name) => (name, Width::Segments),
            None => (inner, Width::Segment),
        };
        self.expect_new(name, bad)?;
        if matches!(self.parts.last(), Some(Part::Var { .. })) {
            return Err(PatternError::Adjacent(name.to_owned()));
        }
        self.parts.push(Part::Var { name: name.to_owned(), width });
        Ok(())
    }

    fn expect_new(&self, name: &str, bad: impl Fn() -> PatternError) -> Result<(), PatternError> {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || !name.bytes().all(inner) {
            return Err(bad());
        }
        if self.path_variables().chain(self.query_variables()).any(|known| known == name) {
            return Err(PatternError::Twice(name.to_owned()));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Self, PatternError> {
        let Some(Part::Literal(first)) = self.parts.first_mut() else { return Err(PatternError::NoScheme) };
        let (scheme, rest) = split_scheme(first).ok_or(PatternError::NoScheme)?;
        *first = format!("{}:{rest}", scheme.to_ascii_lowercase());
        // With every variable a letter, the pattern must be its own normal form.
        let sample = self.write_base(|_| Ok::<_, PatternError>("x".to_owned()))?;
        let normal = sample.parse::<ResourceUri>().map_err(|_| PatternError::NoScheme)?;
        if normal.base() != sample {
            return Err(PatternError::DotSegment);
        }
        Ok(self)
    }
}

/// Text between expressions, normalised.
fn literal(text: &str) -> Result<String, PatternError> {
    let refused =
        |letter: &char| letter.is_control() || letter.is_whitespace() || matches!(letter, '?' | '#');
    match text.chars().find(refused) {
        Some(letter) => Err(PatternError::BadCharacter(letter)),
        None => percent::normal(text).ok_or(PatternError::BrokenEscape),
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(text) => f.write_str(text),
            Self::Var { name, width: Width::Segment } => write!(f, "{{{name}}}"),
            Self::Var { name, width: Width::Segments } => write!(f, "{{+{name}}}"),
        }
    }
}

/// As RFC 6570 writes it.
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
    fn patterns_match_normalised_bases() {
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
    fn what_is_no_pattern_is_refused_with_the_reason() {
        let fails = |text: &str| text.parse::<UriPattern>().unwrap_err();
        assert_eq!(fails("list"), PatternError::NoScheme);
        assert_eq!(fails("{x}://a"), PatternError::NoScheme);
        assert_eq!(fails("doc://{id"), PatternError::Unbalanced);
        assert_eq!(fails("doc://id}"), PatternError::Unbalanced);
        assert_eq!(fails("doc://{i d}"), PatternError::BadExpression("i d".into()));
        assert_eq!(fails("doc://{#id}"), PatternError::BadExpression("#id".into()));
        assert_eq!(fails("doc://{a}/{a}"), PatternError::Twice("a".into()));
        assert_eq!(fails("doc://{a}{b}"), PatternError::Adjacent("b".into()));
        assert_eq!(fails("doc://a{?b}/c"), PatternError::AfterQuery);
        assert_eq!(fails("doc://a?b=1"), PatternError::BadCharacter('?'));
        assert_eq!(fails("doc://a b"), PatternError::BadCharacter(' '));
        assert_eq!(fails("doc://a%2"), PatternError::BrokenEscape);
        assert_eq!(fails("doc://a/../b"), PatternError::DotSegment);
    }

    #[test]
    fn a_query_is_added_for_what_the_path_does_not_name() {
        let with = pattern("doc://{id}{?limit}").with_query([("id", false), ("limit", false), ("tag", true)]);
        assert_eq!(with.to_string(), "doc://{id}{?limit,tag*}");
        assert_eq!(with, with.to_string().parse().unwrap());
        assert_eq!(with.base(), "doc://{id}");
        assert_eq!(with.fixed(), None);
        assert_eq!(pattern("doc://list").fixed(), Some("doc://list"));
    }

    #[test]
    fn a_hostile_uri_costs_its_length_and_no_more() {
        let text = "x://{+a}-{+b}-{+c}-{+d}-{+e}-{+f}!";
        let uri = format!("x://{}", "-".repeat(8000));
        assert_eq!(pattern(text).captures(&uri.parse().unwrap()), None);
    }

    proptest! {
        #[test]
        fn reading_never_panics(text in "[a-z:/{}?+*,.%0-9]{0,24}", uri in "[a-z]:[ -~]{0,20}") {
            if let (Ok(pattern), Ok(uri)) = (text.parse::<UriPattern>(), uri.parse()) {
                let _ = pattern.captures(&uri);
                prop_assert_eq!(pattern.to_string().parse::<UriPattern>().unwrap(), pattern);
            }
        }
    }
}
