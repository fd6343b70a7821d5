//! Suggests the known word nearest to a misspelled one.

/// Returns the nearest of the known words, if it is near enough for a suggestion.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let far = |other: &str| distance(&word, other);
    let best = known.iter().copied().min_by_key(|other| far(other))?;
    (far(best) <= word.len().max(best.len()) / 3 + 1).then_some(best)
}

/// Returns the Levenshtein distance.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut corner = row[0];
        row[0] = line + 1;
        for (column, wanted) in other.iter().enumerate() {
            let changed = corner + usize::from(letter != *wanted);
            corner = row[column + 1];
            row[column + 1] = changed.min(corner + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_finds_the_intended_word() {
        let known = ["read_only", "name", "title", "scopes"];
        assert_eq!(nearest("readonly", &known), Some("read_only"));
        assert_eq!(nearest("nmae", &known), Some("name"));
        assert_eq!(nearest("scope", &known), Some("scopes"));
        assert_eq!(nearest("xyzzyplugh", &known), None);
    }
}
