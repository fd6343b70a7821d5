//! Formats counts.

/// Returns a count with its noun in singular or plural: `1 tool`, `2 tools`.
pub(crate) fn pluralize(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
