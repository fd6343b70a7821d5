//! Paths to arguments: a member name, or a JSON pointer (RFC 6901) whose `*` stands for every element of an array.

use std::fmt;

use switchboard_protocol::Raw;

/// The maximum number of segments of a path.
const MAX_SEGMENTS: usize = 16;
/// The maximum number of values that a path may reach.
pub(super) const MAX_VALUES: usize = 10_000;

/// A path into the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArgumentPath {
    source: String,
    segments: Vec<PathSegment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathSegment {
    /// A member of an object, or the index of an element.
    Member(String),
    /// Every element of an array.
    EveryElement,
}

/// The values at a path.
#[derive(Debug, Default)]
pub(super) struct ReachedValues {
    pub(super) values: Vec<Raw>,
    /// Some branch of the path ends before its last segment, or in `null`.
    pub(super) is_missing: bool,
    /// Some branch of the path leads through a value that has no members or elements.
    pub(super) is_opaque: bool,
}

impl ArgumentPath {
    /// Parses a path. The error says what is wrong with it.
    pub(super) fn parse(source: &str) -> Result<Self, String> {
        let segments = match source.strip_prefix('/') {
            Some(pointer) => pointer.split('/').map(parse_segment).collect::<Result<Vec<_>, _>>()?,
            None => vec![PathSegment::Member(source.to_owned())],
        };
        if segments.len() > MAX_SEGMENTS {
            return Err(format!("the path has more than {MAX_SEGMENTS} segments"));
        }
        Ok(Self { source: source.to_owned(), segments })
    }

    pub(super) fn segments(&self) -> &[PathSegment] {
        &self.segments
    }

    /// Returns the values at the path. Of duplicate members it reads all; they are refused before.
    pub(super) fn values(&self, arguments: &Raw) -> ReachedValues {
        let mut reached = ReachedValues::default();
        reach(arguments, &self.segments, &mut reached);
        reached
    }
}

impl fmt::Display for ArgumentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

fn parse_segment(text: &str) -> Result<PathSegment, String> {
    if text == "*" {
        return Ok(PathSegment::EveryElement);
    }
    let is_escape = |after: &str| after.starts_with(['0', '1']);
    if text.split('~').skip(1).any(|after| !is_escape(after)) {
        return Err("in a path that begins with `/`, write `~` as `~0` and `/` as `~1`".into());
    }
    Ok(PathSegment::Member(text.replace("~1", "/").replace("~0", "~")))
}

/// Recurses at most [`MAX_SEGMENTS`] levels.
fn reach(value: &Raw, segments: &[PathSegment], reached: &mut ReachedValues) {
    if value.as_str() == "null" {
        reached.is_missing = true;
        return;
    }
    let Some((first, rest)) = segments.split_first() else {
        reached.values.push(value.clone());
        return;
    };
    match first {
        PathSegment::Member(name) if value.is_object() => {
            let mut is_found = false;
            for (_, member) in value.fields().filter(|(found, _)| *found == name.as_str()) {
                is_found = true;
                reach(&member, rest, reached);
            }
            reached.is_missing |= !is_found;
        }
        PathSegment::Member(name) if value.is_array() => {
            let element = name.parse().ok().and_then(|index| value.elements().nth(index));
            match element {
                Some(element) => reach(&element, rest, reached),
                None => reached.is_missing = true,
            }
        }
        PathSegment::EveryElement if value.is_array() => {
            let mut is_empty = true;
            for element in value.elements() {
                is_empty = false;
                if reached.values.len() >= MAX_VALUES {
                    reached.is_opaque = true;
                    return;
                }
                reach(&element, rest, reached);
            }
            reached.is_missing |= is_empty;
        }
        PathSegment::Member(_) | PathSegment::EveryElement => reached.is_opaque = true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(path: &str, arguments: &str) -> (Vec<String>, bool, bool) {
        let reached = ArgumentPath::parse(path).unwrap().values(&Raw::parse(arguments.to_owned()).unwrap());
        let texts = reached.values.iter().map(|value| value.as_str().to_owned()).collect();
        (texts, reached.is_missing, reached.is_opaque)
    }

    #[test]
    fn a_path_reaches_members_and_elements() {
        let found =
            |texts: &[&str]| (texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), false, false);
        assert_eq!(values("a", r#"{"\u0061":1}"#), found(&["1"]));
        assert_eq!(values("a.b", r#"{"a.b":1,"a":{"b":2}}"#), found(&["1"]));
        assert_eq!(values("/a/b", r#"{"a":{"b":2}}"#), found(&["2"]));
        assert_eq!(values("/a~1b/~0", r#"{"a/b":{"~":2}}"#), found(&["2"]));
        assert_eq!(values("/a/*/b", r#"{"a":[{"b":1},{"b":2}]}"#), found(&["1", "2"]));
        assert_eq!(values("/a/1", r#"{"a":[1,2]}"#), found(&["2"]));
    }

    #[test]
    fn null_counts_as_missing_and_a_scalar_on_the_way_is_opaque() {
        assert_eq!(values("a", "{}"), (vec![], true, false));
        assert_eq!(values("a", r#"{"a":null}"#), (vec![], true, false));
        assert_eq!(values("/a/*", r#"{"a":[]}"#), (vec![], true, false));
        assert_eq!(values("/a/*/b", r#"{"a":[{"b":1},{}]}"#), (vec!["1".into()], true, false));
        assert_eq!(values("/a/b", r#"{"a":"{\"b\":1}"}"#), (vec![], false, true));
        assert_eq!(values("/a/*", r#"{"a":"x"}"#), (vec![], false, true));
    }

    #[test]
    fn invalid_paths_are_rejected() {
        assert!(ArgumentPath::parse("/a~2").is_err());
        assert!(ArgumentPath::parse(&"/a".repeat(17)).is_err());
    }
}
