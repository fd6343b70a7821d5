//! Names at a shell: kebab-case, and no two alike.

use std::collections::BTreeSet;

/// Names that are in use within one command.
pub(super) struct Taken(BTreeSet<String>);

impl Taken {
    pub(super) fn new<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// A flag for an argument, and its exact name as another where that is free.
    pub(super) fn flag(&mut self, name: &str) -> (String, Option<String>) {
        let long = self.take(&kebab(name), "arg");
        let is_flag = !name.is_empty()
            && !name.starts_with('-')
            && !name.contains(|char: char| char.is_whitespace() || char.is_control() || char == '=');
        let alias = (is_flag && self.0.insert(name.to_owned())).then(|| name.to_owned());
        (long, alias)
    }

    /// A command for something; where its name is taken, with what it is in front.
    pub(super) fn command(&mut self, name: &str, kind: &str) -> String {
        self.take(&kebab(name), kind)
    }

    fn take(&mut self, name: &str, kind: &str) -> String {
        let plain = std::iter::once(name.to_owned());
        let numbered = (2..).map(|number| format!("{kind}-{name}-{number}"));
        let mut names = plain.chain([format!("{kind}-{name}")]).chain(numbered);
        names.find(|name| self.0.insert(name.clone())).unwrap_or_default()
    }
}

/// `analyzeText` and `analyze_text` as `analyze-text`.
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
        let mut taken = Taken::new(["help"]);
        assert_eq!(taken.flag("a_b"), ("a-b".to_owned(), Some("a_b".to_owned())));
        assert_eq!(taken.flag("a-b"), ("arg-a-b".to_owned(), None));
        assert_eq!(taken.flag("aB"), ("arg-a-b-2".to_owned(), Some("aB".to_owned())));
        assert_eq!(taken.flag("help"), ("arg-help".to_owned(), None));
        assert_eq!(taken.flag("--x y"), ("x-y".to_owned(), None));
    }
}
