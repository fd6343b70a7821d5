//! Suggestion for a misspelled name.

use switchboard_design::edit_distance;

/// Returns the name with the smallest edit distance, if it is small enough for a typing mistake.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (wanted.chars().count() / 3).clamp(1, 4);
    let chars = letters(wanted);
    let near = names.map(|name| (edit_distance(&chars, &letters(name)), name)).min()?;
    (near.0 <= limit).then_some(near.1)
}

fn letters(name: &str) -> Vec<char> {
    name.chars().take(128).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c8_only_a_similar_name_is_suggested() {
        let names = ["echo", "add", "get-sum", "countdown"];
        assert_eq!(nearest("ehco", names.into_iter()), Some("echo"));
        assert_eq!(nearest("get_sum", names.into_iter()), Some("get-sum"));
        assert_eq!(nearest("nope", names.into_iter()), None);
    }
}
