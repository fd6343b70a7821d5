//! Inspection of arguments before rules read them: what peers read differently is refused.
//!
//! Checked are all objects on the path of a rule, and the values at its end: duplicate names, which the first or the
//! last wins, and names that differ from a ruled name in case only, which Go decodes into the same field.

use std::collections::HashSet;

use switchboard_protocol::Raw;

use super::argument_path::{ArgumentPath, PathSegment};
use super::decision::DenyReason;
use super::name_set::fold_case;

/// Checks the arguments on all these paths.
///
/// # Errors
/// Returns the reason why the arguments cannot be decided about.
pub(super) fn inspect(arguments: &Raw, paths: &[&ArgumentPath]) -> Result<(), DenyReason> {
    if !arguments.is_object() {
        return Err(DenyReason::ArgumentsNotAnObject);
    }
    let member = |segment: &PathSegment| match segment {
        PathSegment::Member(name) => Some(name.clone()),
        PathSegment::EveryElement => None,
    };
    let ruled: HashSet<String> =
        paths.iter().flat_map(|path| path.segments().iter().filter_map(member)).collect();
    paths.iter().try_for_each(|path| inspect_path(arguments, path.segments(), &ruled))
}

/// Recurses along the path, whose length is bounded.
fn inspect_path(value: &Raw, segments: &[PathSegment], ruled: &HashSet<String>) -> Result<(), DenyReason> {
    match segments.split_first() {
        None if value.is_object() || value.is_array() => match value.canonical() {
            Ok(_) => Ok(()),
            Err(_) => Err(DenyReason::DuplicateKey),
        },
        Some((PathSegment::Member(name), rest)) if value.is_object() => {
            check_names(value, name, ruled)?;
            let member = value.fields().find(|(found, _)| *found == name.as_str());
            member.map_or(Ok(()), |(_, member)| inspect_path(&member, rest, ruled))
        }
        Some((PathSegment::Member(name), rest)) if value.is_array() => {
            let element = name.parse().ok().and_then(|index| value.elements().nth(index));
            element.map_or(Ok(()), |element| inspect_path(&element, rest, ruled))
        }
        Some((PathSegment::EveryElement, rest)) if value.is_array() => {
            value.elements().try_for_each(|element| inspect_path(&element, rest, ruled))
        }
        _ => Ok(()),
    }
}

fn check_names(object: &Raw, ruled_name: &str, ruled: &HashSet<String>) -> Result<(), DenyReason> {
    let folded = fold_case(ruled_name);
    let mut seen = HashSet::new();
    for (name, _) in object.fields() {
        let name = name.as_str();
        let is_variant = name != ruled_name && !ruled.contains(name) && fold_case(name) == folded;
        if is_variant {
            return Err(DenyReason::AmbiguousKey);
        }
        if !seen.insert(name.to_owned()) {
            return Err(DenyReason::DuplicateKey);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(paths: &[&str], arguments: &str) -> Result<(), DenyReason> {
        let paths: Vec<ArgumentPath> = paths.iter().map(|path| ArgumentPath::parse(path).unwrap()).collect();
        inspect(&Raw::parse(arguments.to_owned()).unwrap(), &paths.iter().collect::<Vec<_>>())
    }

    #[test]
    fn duplicates_on_the_path_are_refused() {
        for arguments in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"a":1,"b":1,"b":2}"#,
            r#"{"a":{"b":1,"b":2}}"#,
            r#"{"a":[{"b":1,"b":2}]}"#,
        ] {
            assert_eq!(check(&["a"], arguments), Err(DenyReason::DuplicateKey), "{arguments}");
        }
        assert_eq!(check(&["/a/b"], r#"{"a":{"x":0,"b":1,"x":2}}"#), Err(DenyReason::DuplicateKey));
        assert_eq!(check(&["/a/*/b"], r#"{"a":[{"b":1},{"b":1,"b":2}]}"#), Err(DenyReason::DuplicateKey));
        assert_eq!(check(&["a"], r#"{"a":1,"b":{"c":1,"c":2}}"#), Ok(()), "not on the path");
    }

    #[test]
    fn variants_of_a_ruled_name_are_refused() {
        for arguments in [r#"{"Path":1}"#, r#"{"path":1,"PATH":2}"#] {
            assert_eq!(check(&["path"], arguments), Err(DenyReason::AmbiguousKey), "{arguments}");
        }
        assert_eq!(check(&["class"], r#"{"claſs":1}"#), Err(DenyReason::AmbiguousKey));
        assert_eq!(check(&["key"], "{\"\u{212a}ey\":1}"), Err(DenyReason::AmbiguousKey));
        assert_eq!(check(&["path", "Path"], r#"{"path":1,"Path":2}"#), Ok(()), "both are ruled");
        assert_eq!(check(&["path"], r#"{"path":1,"other":2}"#), Ok(()));
    }

    #[test]
    fn only_objects_are_arguments() {
        for arguments in ["[]", "1", r#""{}""#] {
            assert_eq!(check(&["a"], arguments), Err(DenyReason::ArgumentsNotAnObject), "{arguments}");
        }
    }
}
