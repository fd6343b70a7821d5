//! Paths of values that a comparison leaves out.

use std::fmt;
use std::str::FromStr;

/// A path as differences show it, like `$.result.content[0].text`. `*` stands for one member or index, and a path covers all
/// that is below it. `result.time` is short for `$.result.time`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredPath {
    text: String,
    segments: Vec<String>,
}

/// A path that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a path\nwrite it as differences show it, like $.result.content[0].text or result.*.time"
)]
pub struct IgnoredPathError(String);

impl FromStr for IgnoredPath {
    type Err = IgnoredPathError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match segments(text) {
            Some(segments) if !segments.is_empty() => Ok(Self { text: text.to_owned(), segments }),
            _ => Err(IgnoredPathError(text.to_owned())),
        }
    }
}

impl fmt::Display for IgnoredPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl IgnoredPath {
    /// Returns whether the path covers this one.
    pub(crate) fn covers(&self, path: &str) -> bool {
        let Some(path) = segments(path) else { return false };
        let matches = |(ignored, segment): (&String, &String)| ignored == "*" || ignored == segment;
        self.segments.len() <= path.len() && self.segments.iter().zip(&path).all(matches)
    }
}

/// Splits `$.a[0]["b.c"]` into `a`, `0` and `b.c`.
fn segments(path: &str) -> Option<Vec<String>> {
    let path = path.strip_prefix('$').unwrap_or(path);
    let mut rest = path.strip_prefix('.').unwrap_or(path);
    let mut segments = Vec::new();
    while !rest.is_empty() {
        if rest.starts_with("[\"") {
            let mut quoted = serde_json::Deserializer::from_str(&rest[1..]).into_iter::<String>();
            segments.push(quoted.next()?.ok()?);
            rest = rest[1 + quoted.byte_offset()..].strip_prefix(']')?;
        } else if let Some(index) = rest.strip_prefix('[') {
            let (index, after) = index.split_once(']')?;
            segments.push(index.to_owned());
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            if end == 0 {
                return None;
            }
            segments.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        rest = match rest.strip_prefix('.') {
            Some("") => return None,
            Some(after) => after,
            None => rest,
        };
    }
    Some(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_covers_what_is_below_it() {
        for (ignored, path, covered) in [
            ("$.result.content[0].text", "$.result.content[0].text", true),
            ("result.content[*].text", "$.result.content[12].text.deep", true),
            ("result.content.*.text", "$.result.content[12].text", true),
            ("$[\"a.b\"]", "$[\"a.b\"].c", true),
            ("result.content", "$.result", false),
            ("result.a", "$.result.ab", false),
        ] {
            let parsed: IgnoredPath = ignored.parse().expect(ignored);
            assert_eq!(parsed.covers(path), covered, "{ignored} {path}");
        }
        for wrong in ["", "$", "a..b", "a.", "[0", "[\"a"] {
            assert!(wrong.parse::<IgnoredPath>().is_err(), "{wrong}");
        }
    }
}
