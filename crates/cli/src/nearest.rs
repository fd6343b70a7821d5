//! Suggestion for a misspelled name.

/// Returns the name with the smallest edit distance, if it is small enough for a typing mistake.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (wanted.chars().count() / 3).clamp(1, 4);
    let near = names.map(|name| (distance(wanted, name), name)).min()?;
    (near.0 <= limit).then_some(near.1)
}

/// Returns the edit distance of two names: letters changed, added or removed, and neighbors swapped.
fn distance(from: &str, to: &str) -> usize {
    let letters = |name: &str| name.chars().take(128).flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (from, to) = (letters(from), letters(to));
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for (row, letter) in from.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let mut least = (rows[row][column] + usize::from(letter != other))
                .min(rows[row][column + 1] + 1)
                .min(next[column] + 1);
            if row > 0 && column > 0 && *letter == to[column - 1] && from[row - 1] == *other {
                least = least.min(rows[row - 1][column - 1] + 1);
            }
            next.push(least);
        }
        rows.push(next);
    }
    rows[from.len()][to.len()]
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
