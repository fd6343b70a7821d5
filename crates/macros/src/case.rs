//! Case conversion of names.

/// Converts to kebab-case: `MyTexts` becomes `my-texts`.
pub(crate) fn kebab(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut kebab = String::new();
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| letters[before]);
        let after = letters.get(index + 1);
        // A word starts at a capital after a lower-case letter, and at the last capital before one: `HTTPTexts` has two words.
        let starts_word = letter.is_uppercase()
            && before.is_some_and(|before| {
                !before.is_uppercase() && before != '_' || after.is_some_and(|after| after.is_lowercase())
            });
        if starts_word && !kebab.ends_with('-') {
            kebab.push('-');
        }
        match letter {
            '_' => kebab.push('-'),
            letter => kebab.extend(letter.to_lowercase()),
        }
    }
    kebab
}

/// A rule of `#[serde(rename_all)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RenameRule {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl RenameRule {
    pub(crate) fn from_serde(word: &str) -> Option<Self> {
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

    /// Renames a field, which is in snake_case.
    pub(crate) fn apply_to_field(self, name: &str) -> String {
        match self {
            Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_uppercase(),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_uppercase().replace('_', "-"),
            Self::Pascal | Self::Camel => {
                let words = name.split('_').map(capitalize);
                let pascal: String = words.collect();
                if self == Self::Camel { uncapitalize(&pascal) } else { pascal }
            }
        }
    }

    /// Renames a variant, which is in PascalCase.
    pub(crate) fn apply_to_variant(self, name: &str) -> String {
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
            Self::Camel => uncapitalize(name),
            other => other.apply_to_field(&snake),
        }
    }
}

fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn uncapitalize(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::{RenameRule, kebab};

    #[test]
    fn names_are_renamed_like_serde() {
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
            let rule = RenameRule::from_serde(rule).expect("a rule of serde");
            assert_eq!(
                (rule.apply_to_field("very_tasty"), rule.apply_to_variant("VeryTasty")),
                (field.into(), variant.into())
            );
        }
    }

    #[test]
    fn words_are_split_at_capitals() {
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
