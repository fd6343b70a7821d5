//! `${NAME}` and `${NAME:-default}`, filled in.
//!
//! Invariants: a value is taken as it is, whatever looks like a reference in it; text without `${` is unchanged; what
//! a fault says is what was written, never a value.

use crate::fault::{Fault, Problem};

/// The longest argument Linux takes.
pub(crate) const LONGEST: usize = 128 * 1024;

/// Where values come from.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    Literal(&'a str),
    Variable { name: &'a str, default: Option<&'a str> },
}

/// The text in pieces.
pub(crate) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, Problem> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        if start > 0 {
            pieces.push(Piece::Literal(&rest[..start]));
        }
        let reference = &rest[start..];
        let Some(end) = reference.find('}') else { return Err(bad(reference)) };
        let inside = &reference[2..end];
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if !is_name(name) {
            return Err(bad(&reference[..=end]));
        }
        pieces.push(Piece::Variable { name, default });
        rest = &reference[end + 1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Literal(rest));
    }
    Ok(pieces)
}

/// The text with `${NAME}` and `${NAME:-default}` filled in: the one rule for files and for the command line.
///
/// # Errors
/// Names the field, and the variable that is not set or the reference that cannot be read.
pub fn expand_variables(field: &str, text: &str, lookup: Lookup<'_>) -> Result<String, Fault> {
    expand(text, lookup).map_err(|problem| Fault::new(field, problem))
}

/// The text with every variable filled in. A variable that is set to nothing has its default, as in a shell.
pub(crate) fn expand(text: &str, lookup: Lookup<'_>) -> Result<String, Problem> {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text)? {
        match piece {
            Piece::Literal(literal) => out.push_str(literal),
            Piece::Variable { name, default } => {
                let set = lookup(name).filter(|value| default.is_none() || !value.is_empty());
                match (set, default) {
                    (Some(value), _) => out.push_str(&value),
                    (None, Some(default)) => out.push_str(default),
                    (None, None) => return Err(Problem::Unset { variable: name.to_owned() }),
                }
            }
        }
        if out.len() > LONGEST {
            return Err(Problem::TooLong { most: LONGEST });
        }
    }
    Ok(out)
}

fn bad(reference: &str) -> Problem {
    // A default that was meant may be a secret.
    let shown = reference.split(":-").next().unwrap_or(reference);
    Problem::BadReference { text: shown.chars().take(40).filter(|char| !char.is_control()).collect() }
}

fn is_name(name: &str) -> bool {
    !name.starts_with(|char: char| char.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, Problem> {
        expand(text, &|name| match name {
            "A" => Some("alpha".into()),
            "EMPTY" => Some(String::new()),
            "TRICK" => Some("${A}".into()),
            "HUGE" => Some("x".repeat(LONGEST)),
            _ => None,
        })
    }

    #[test]
    fn references_are_filled_in_once() {
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
            assert_eq!(filled(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_filled_in_is_named() {
        assert_eq!(filled("a${NO}"), Err(Problem::Unset { variable: "NO".into() }));
        for text in ["${", "${A", "${}", "${1A}", "${A B}", "${env:A}", "${input:key}", "${:-d}"] {
            assert!(matches!(filled(text), Err(Problem::BadReference { .. })), "{text}");
        }
        assert_eq!(filled("${HUGE}x"), Err(Problem::TooLong { most: LONGEST }));
    }

    #[test]
    fn a_default_is_not_shown() {
        let Err(problem) = filled("${A B:-s3cr3t}") else { panic!() };
        assert_eq!(problem, Problem::BadReference { text: "${A B".into() });
    }
}
