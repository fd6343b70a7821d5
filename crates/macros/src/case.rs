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

/// How serde renames all fields or variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rename {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl Rename {
    pub(crate) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "lowercase" => Self::Lower,
            "UPPERCASE" => Self::Upper,
            "PascalCase" => Self::Pascal,
            "camelCase" => Self::Camel,
            "snake_case" => Self::Snake,
            "SCREAMING_SNAKE_CASE" => Self::ScreamingSnake,
            "kebab-case" => Self::Kebab,
            "SCREAMING-KEBAB-CASE" => Self::ScreamingKebab,
            _ => return None,
        })
    }

    /// The name of a field, which is written `like_this`.
    pub(crate) fn field(self, name: &str) -> String {
        match self {
            Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_uppercase(),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_uppercase().replace('_', "-"),
            Self::Pascal | Self::Camel => {
                let words = name.split('_').map(capitalised);
                let pascal: String = words.collect();
                if self == Self::Camel { uncapitalised(&pascal) } else { pascal }
            }
        }
    }

    /// The name of a variant, which is written `LikeThis`.
    pub(crate) fn variant(self, name: &str) -> String {
        let mut snake = String::new();
        for letter in name.chars() {
            if letter.is_uppercase() && !snake.is_empty() {
                snake.push('_');
            }
            snake.extend(letter.to_lowercase());
        }
        match self {
            Self::Lower => name.to_lowercase(),
            Self::Upper => name.to_uppercase(),
            Self::Pascal => name.to_owned(),
            Self::Camel => uncapitalised(name),
            other => other.field(&snake),
        }
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn uncapitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::{Rename, kebab};

    #[test]
    fn names_change_as_serde_changes_them() {
        for (rule, field, variant) in [
            ("lowercase", "very_tasty", "verytasty"),
            ("UPPERCASE", "VERY_TASTY", "VERYTASTY"),
            ("PascalCase", "VeryTasty", "VeryTasty"),
            ("camelCase", "veryTasty", "veryTasty"),
            ("snake_case", "very_tasty", "very_tasty"),
            ("SCREAMING_SNAKE_CASE", "VERY_TASTY", "VERY_TASTY"),
            ("kebab-case", "very-tasty", "very-tasty"),
            ("SCREAMING-KEBAB-CASE", "VERY-TASTY", "VERY-TASTY"),
        ] {
            let rule = Rename::of(rule).expect("a rule of serde");
            assert_eq!((rule.field("very_tasty"), rule.variant("VeryTasty")), (field.into(), variant.into()));
        }
    }

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
