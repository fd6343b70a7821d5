//! Names in other cases.

/// `MyTexts` as `my-texts`.
pub(crate) fn kebab(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut kebab = String::new();
    for (place, letter) in letters.iter().enumerate() {
        let before = place.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(place + 1);
        // A word begins at a capital after a small letter, and at the last capital before one: `HTTPTexts` has two.
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                !before.is_uppercase() && before != '_' || after.is_some_and(|after| after.is_lowercase())
            });
        if begins && !kebab.ends_with('-') {
            kebab.push('-');
        }
        match letter {
            '_' => kebab.push('-'),
            letter => kebab.extend(letter.to_lowercase()),
        }
    }
    kebab
}

#[cfg(test)]
mod tests {
    use super::kebab;

    #[test]
    fn words_are_parted_where_a_reader_would_part_them() {
        for (name, expected) in [
            ("Texts", "texts"),
            ("MyTexts", "my-texts"),
            ("HTTPTexts", "http-texts"),
            ("Texts2Go", "texts2-go"),
            ("my_texts", "my-texts"),
        ] {
            assert_eq!(kebab(name), expected, "{name}");
        }
    }
}
