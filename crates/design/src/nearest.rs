//! Suggests the known name nearest to a misspelled one, by edit distance.

/// The maximum length of compared names.
const MAX_LENGTH: usize = 48;
/// The maximum number of compared names.
pub(crate) const MAX_COMPARED: usize = 200;

/// Returns the nearest of the known names, if it is near enough for a suggestion.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let chars = normalize(name)?;
    let near = known
        .into_iter()
        .take(MAX_COMPARED)
        .filter_map(|other| Some((edit_distance(&chars, &normalize(other)?), other)))
        .min()?;
    (near.0 <= (chars.len() / 3).clamp(1, 3) && near.0 < chars.len()).then_some(near.1)
}

/// Returns the characters to compare: `maxSize`, `max-size` and `max_size` are equal. `None` for too long names.
fn normalize(name: &str) -> Option<Vec<char>> {
    let chars: Vec<char> = name
        .chars()
        .take(MAX_LENGTH + 1)
        .filter(|letter| !matches!(letter, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect();
    (1..=MAX_LENGTH).contains(&chars.len()).then_some(chars)
}

/// Returns the Damerau–Levenshtein distance (optimal string alignment).
pub fn edit_distance(from: &[char], to: &[char]) -> usize {
    // The last two rows, and the row being computed.
    let mut rows = [vec![0; to.len() + 1], (0..=to.len()).collect(), vec![0; to.len() + 1]];
    for (row, letter) in from.iter().enumerate() {
        rows[2][0] = row + 1;
        for (column, other) in to.iter().enumerate() {
            let substituted = rows[1][column] + usize::from(letter != other);
            let mut min = substituted.min(rows[1][column + 1] + 1).min(rows[2][column] + 1);
            if row > 0 && column > 0 && *letter == to[column - 1] && from[row - 1] == *other {
                min = min.min(rows[0][column - 1] + 1);
            }
            rows[2][column + 1] = min;
        }
        rows.rotate_left(1);
    }
    rows[1][to.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_typo_finds_the_intended_name() {
        let known = ["language", "max_size", "id", "text"];
        for (name, meant) in [
            ("langauge", Some("language")),
            ("Language", Some("language")),
            ("maxSize", Some("max_size")),
            ("txt", Some("text")),
            ("ix", Some("id")),
            ("color", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), meant, "{name}");
        }
        assert_eq!(nearest(&"x".repeat(1_000_000), known), None);
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest("a", []), None);
    }
}
