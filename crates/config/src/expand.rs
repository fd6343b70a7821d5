//! Substitution of `${NAME}` and `${NAME:-default}`.
//!
//! Invariants: values are not expanded again; text without `${` is unchanged; errors quote the reference as written,
//! never a value.

use crate::error::{ConfigError, ConfigErrorKind};

/// The length limit of an expanded value: the longest argument on Linux.
pub(crate) const MAX_LENGTH: usize = 128 * 1024;

/// Returns the value of a variable.
pub type VariableLookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A part of a text with references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextPiece<'a> {
    Literal(&'a str),
    Variable { name: &'a str, default: Option<&'a str> },
}

/// Splits a text into literals and references.
pub(crate) fn parse_references(text: &str) -> Result<Vec<TextPiece<'_>>, ConfigErrorKind> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        if start > 0 {
            pieces.push(TextPiece::Literal(&rest[..start]));
        }
        let reference = &rest[start..];
        let Some(end) = reference.find('}') else { return Err(bad_reference(reference)) };
        let inside = &reference[2..end];
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if !is_name(name) {
            return Err(bad_reference(&reference[..=end]));
        }
        pieces.push(TextPiece::Variable { name, default });
        rest = &reference[end + 1..];
    }
    if !rest.is_empty() {
        pieces.push(TextPiece::Literal(rest));
    }
    Ok(pieces)
}

/// Substitutes `${NAME}` and `${NAME:-default}`: the same rule for files and the command line.
///
/// # Errors
/// When a variable is not set or a reference is invalid; the error names the field.
pub fn expand_variables(field: &str, text: &str, lookup: VariableLookup<'_>) -> Result<String, ConfigError> {
    expand(text, lookup).map_err(|problem| ConfigError::new(field, problem))
}

/// Substitutes all variables. An empty variable is replaced by the default, as in a shell.
pub(crate) fn expand(text: &str, lookup: VariableLookup<'_>) -> Result<String, ConfigErrorKind> {
    let mut out = String::with_capacity(text.len());
    for piece in parse_references(text)? {
        match piece {
            TextPiece::Literal(literal) => out.push_str(literal),
            TextPiece::Variable { name, default } => {
                let set = lookup(name).filter(|value| default.is_none() || !value.is_empty());
                match (set, default) {
                    (Some(value), _) => out.push_str(&value),
                    (None, Some(default)) => out.push_str(default),
                    (None, None) => return Err(ConfigErrorKind::UnsetVariable { variable: name.to_owned() }),
                }
            }
        }
        if out.len() > MAX_LENGTH {
            return Err(ConfigErrorKind::TooLong { max: MAX_LENGTH });
        }
    }
    Ok(out)
}

fn bad_reference(reference: &str) -> ConfigErrorKind {
    // The default may be a secret.
    let shown = reference.split(":-").next().unwrap_or(reference);
    ConfigErrorKind::BadReference { text: shown.chars().take(40).filter(|char| !char.is_control()).collect() }
}

fn is_name(name: &str) -> bool {
    !name.starts_with(|char: char| char.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, ConfigErrorKind> {
        expand(text, &|name| match name {
            "A" => Some("alpha".into()),
            "EMPTY" => Some(String::new()),
            "TRICK" => Some("${A}".into()),
            "HUGE" => Some("x".repeat(MAX_LENGTH)),
            _ => None,
        })
    }

    #[test]
    fn references_are_substituted_once() {
        for (text, expected) in [
            ("plain", "plain"),
            ("", ""),
            ("${A}", "alpha"),
            ("x${A}y${A}", "xalphayalpha"),
            ("${NO:-d}", "d"),
            ("${NO:-}", ""),
            ("${A:-d}", "alpha"),
            ("${EMPTY}", ""),
            ("${EMPTY:-d}", "d"),
            ("${TRICK}", "${A}"),
            ("$A $ {A} $$ %A%", "$A $ {A} $$ %A%"),
            ("${NO:-http://x:-y}", "http://x:-y"),
            ("é${A}é", "éalphaé"),
        ] {
            assert_eq!(expanded(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn an_error_names_the_reference() {
        assert_eq!(expanded("a${NO}"), Err(ConfigErrorKind::UnsetVariable { variable: "NO".into() }));
        for text in ["${", "${A", "${}", "${1A}", "${A B}", "${env:A}", "${input:key}", "${:-d}"] {
            assert!(matches!(expanded(text), Err(ConfigErrorKind::BadReference { .. })), "{text}");
        }
        assert_eq!(expanded("${HUGE}x"), Err(ConfigErrorKind::TooLong { max: MAX_LENGTH }));
    }

    #[test]
    fn an_error_does_not_show_the_default() {
        let Err(problem) = expanded("${A B:-s3cr3t}") else { panic!() };
        assert_eq!(problem, ConfigErrorKind::BadReference { text: "${A B".into() });
    }
}
