//! Counts of things, in words.

/// `1 tool`, `2 tools`.
pub(crate) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
