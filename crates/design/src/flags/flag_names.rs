//! Unique kebab-case names of flags and commands.

use std::collections::BTreeSet;

/// The names that are in use within one command.
pub(super) struct UsedNames(BTreeSet<String>);

impl UsedNames {
    pub(super) fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// Reserves a flag name for an argument, and its exact name as an alias if that is free.
    pub(super) fn flag(&mut self, name: &str) -> (String, Option<String>) {
        let long = self.reserve(&kebab(name), "arg");
        let is_flag = !name.is_empty()
            && !name.starts_with('-')
            && !name.contains(|char: char| char.is_whitespace() || char.is_control() || char == '=');
        let alias = (is_flag && self.0.insert(name.to_owned())).then(|| name.to_owned());
        (long, alias)
    }

    /// Reserves a command name; prefixed with `kind` if the plain name is in use.
    pub(super) fn command(&mut self, name: &str, kind: &str) -> String {
        self.reserve(&kebab(name), kind)
    }

    fn reserve(&mut self, name: &str, kind: &str) -> String {
        let plain = std::iter::once(name.to_owned());
        let numbered = (2..).map(|number| format!("{kind}-{name}-{number}"));
        let mut names = plain.chain([format!("{kind}-{name}")]).chain(numbered);
        names.find(|name| self.0.insert(name.clone())).unwrap_or_default()
    }
}

/// Converts to kebab-case: `analyzeText` and `analyze_text` become `analyze-text`.
pub(super) fn kebab(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = '-';
    for char in name.chars() {
        let starts_word = char.is_uppercase() && (before.is_lowercase() || before.is_numeric());
        if (starts_word || !char.is_alphanumeric()) && !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
        if char.is_alphanumeric() {
            out.extend(char.to_lowercase());
        }
        before = char;
    }
    let out = out.trim_end_matches('-');
    if out.is_empty() { "unnamed".to_owned() } else { out.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_kebab_case() {
        let cases = [
            ("analyze_text", "analyze-text"),
            ("analyzeText", "analyze-text"),
            ("a.b__c", "a-b-c"),
            ("HTTPServer", "httpserver"),
            ("utf8Text", "utf8-text"),
            ("$filter", "filter"),
            ("é_x", "é-x"),
            ("__", "unnamed"),
        ];
        for (name, expected) in cases {
            assert_eq!(kebab(name), expected, "{name}");
        }
    }

    #[test]
    fn no_two_flags_share_a_name() {
        let mut used = UsedNames::new(["help"]);
        assert_eq!(used.flag("a_b"), ("a-b".to_owned(), Some("a_b".to_owned())));
        assert_eq!(used.flag("a-b"), ("arg-a-b".to_owned(), None));
        assert_eq!(used.flag("aB"), ("arg-a-b-2".to_owned(), Some("aB".to_owned())));
        assert_eq!(used.flag("help"), ("arg-help".to_owned(), None));
        assert_eq!(used.flag("--x y"), ("x-y".to_owned(), None));
    }
}
