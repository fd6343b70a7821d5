//! The known name that is nearest to a misspelled one.

/// Longer names are not compared.
const MAX_LETTERS: usize = 48;
/// Known names that a misspelled one is compared with.
pub(crate) const MAX_COMPARED: usize = 200;

/// The nearest of the known names, if it is near enough to have been meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = letters(name)?;
    let near = known
        .into_iter()
        .take(MAX_COMPARED)
        .filter_map(|other| Some((distance(&letters, &self::letters(other)?), other)))
        .min()?;
    (near.0 <= (letters.len() / 3).clamp(1, 3) && near.0 < letters.len()).then_some(near.1)
}

/// The letters that are compared: `maxSize`, `max-size` and `max_size` are the same name.
fn letters(name: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = name
        .chars()
        .take(MAX_LETTERS + 1)
        .filter(|letter| !matches!(letter, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect();
    (1..=MAX_LETTERS).contains(&letters.len()).then_some(letters)
}

/// The edit distance: letters changed, added or removed, and neighbors swapped.
fn distance(from: &[char], to: &[char]) -> usize {
    // The row before the last, the last, and the one being filled.
    let mut rows = [vec![0; to.len() + 1], (0..=to.len()).collect(), vec![0; to.len() + 1]];
    for (line, letter) in from.iter().enumerate() {
        rows[2][0] = line + 1;
        for (column, other) in to.iter().enumerate() {
            let changed = rows[1][column] + usize::from(letter != other);
            let mut least = changed.min(rows[1][column + 1] + 1).min(rows[2][column] + 1);
            if line > 0 && column > 0 && *letter == to[column - 1] && from[line - 1] == *other {
                least = least.min(rows[0][column - 1] + 1);
            }
            rows[2][column + 1] = least;
        }
        rows.rotate_left(1);
    }
    rows[1][to.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_the_name_that_was_meant_and_nonsense_finds_none() {
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
