//! Type names: no name is defined in more than two files of the crates, and no file, type or public function is named
//! by a word that says nothing about it.
//!
//! Tests and associated types may use any name. The forbidden words are the fenced list in STYLE.md below [`HEADING`].

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::source::{Source, is_word, words};
use super::tree::{File, Tree};

/// Type names that may be defined in any number of files.
const REPEATABLE: [&str; 3] = ["Error", "Inner", "State"];
/// Maximum number of files that define a type of the same name.
const MAX_FILES: usize = 2;
const STYLE: &str = "STYLE.md";
const HEADING: &str = "## Words that are not names";

/// Finds type names that are defined in more than two files of `crates/*/src`. The finding is at the first definition.
pub(super) fn check_repeated(tree: &Tree) -> Vec<Finding> {
    let mut definitions: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
    for file in sources(tree) {
        let source = Source::new(file);
        let mut names = BTreeSet::new();
        for (at, name) in types(&source) {
            if names.insert(name.to_owned()) {
                definitions.entry(name.to_owned()).or_default().push((file.path.clone(), source.line(at)));
            }
        }
    }
    let is_repeated =
        |(name, places): &(String, Vec<_>)| places.len() > MAX_FILES && !REPEATABLE.contains(&name.as_str());
    let finding = |(name, places): (String, Vec<(String, usize)>)| {
        let files: Vec<&str> = places.iter().map(|(path, _)| path.as_str()).collect();
        let what = format!("`{name}` is defined in {}; name each type by what it is", files.join(", "));
        Finding { path: places[0].0.clone(), line: places[0].1, what }
    };
    definitions.into_iter().filter(is_repeated).map(finding).collect()
}

/// Finds files, types and public functions of `crates/*/src` whose whole name is a forbidden word.
pub(super) fn check_words(tree: &Tree) -> Vec<Finding> {
    let style = tree.files.iter().find(|file| file.path == STYLE);
    let Some(forbidden) = style.and_then(|file| forbidden_words(&file.text)) else {
        let what = format!("there is no fenced list of words below `{HEADING}`");
        return vec![Finding { path: STYLE.into(), line: 1, what }];
    };
    let is_forbidden = |name: &str| forbidden.contains(&snake_case(name));
    let remedy = |kind: &str, name: &str| {
        format!(
            "`{name}` is no name for a {kind}; use the technical term ({STYLE} lists the words that are not names)"
        )
    };
    let mut findings = Vec::new();
    for file in sources(tree) {
        let source = Source::new(file);
        let stem = file.path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
        if is_forbidden(stem) {
            findings.push(source.finding(0, remedy("file", stem)));
        }
        let types = types(&source).map(|item| (item, "type"));
        let functions = public_functions(&source).map(|item| (item, "public function"));
        for ((at, name), kind) in types.chain(functions).filter(|((_, name), _)| is_forbidden(name)) {
            findings.push(source.finding(at, remedy(kind, name)));
        }
    }
    findings
}

/// Returns the source files of the crates, tests excluded.
fn sources(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.files.iter().filter(|file| {
        let parts: Vec<&str> = file.path.split('/').collect();
        matches!(parts.as_slice(), ["crates", _, "src", ..]) && file.is_rust() && !file.is_test()
    })
}

/// Returns the structs, enums and traits of a file, with their positions.
fn types<'a>(source: &'a Source<'_>) -> impl Iterator<Item = (usize, &'a str)> {
    let is_type = |(_, name): &(usize, &str)| name.starts_with(|first: char| first.is_ascii_uppercase());
    ["struct ", "enum ", "trait "].into_iter().flat_map(|keyword| items(source, keyword)).filter(is_type)
}

/// Returns the functions of a file that are `pub` without restriction, with their positions.
fn public_functions<'a>(source: &'a Source<'_>) -> impl Iterator<Item = (usize, &'a str)> {
    let is_public = |(at, _): &(usize, &str)| {
        let before = source.bare[..*at].trim_end();
        let mut words =
            before[before.rfind(['{', '}', ';', ']']).map_or(0, |end| end + 1)..].split_whitespace();
        words.next() == Some("pub") && words.all(|word| matches!(word, "const" | "async" | "unsafe"))
    };
    items(source, "fn ").filter(is_public)
}

/// Returns the items that begin with a keyword, with their positions.
fn items<'a>(source: &'a Source<'_>, keyword: &'static str) -> impl Iterator<Item = (usize, &'a str)> {
    words(&source.bare, keyword).filter(|at| !source.is_test(*at)).filter_map(move |at| {
        let rest = &source.bare[at + keyword.len()..];
        let end = rest.bytes().position(|byte| !is_word(byte)).unwrap_or(rest.len());
        (end > 0).then(|| (at, &rest[..end]))
    })
}

/// Returns the words of the fenced block below the heading.
fn forbidden_words(style: &str) -> Option<BTreeSet<String>> {
    let (_, section) = style.split_once(HEADING)?;
    let section = section.split("\n## ").next()?;
    let list: BTreeSet<String> = section.split("```").nth(1)?.split_whitespace().map(str::to_owned).collect();
    // The first word may be the language of the fence.
    let list: BTreeSet<String> = list.into_iter().filter(|word| word != "text").collect();
    (!list.is_empty()).then_some(list)
}

/// Converts a camel-case name to snake case.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (index, character) in name.char_indices() {
        if character.is_uppercase() && index > 0 {
            snake.push('_');
        }
        snake.extend(character.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        Tree { files: files.iter().map(|(path, text)| File::new(path, text)).collect() }
    }

    #[test]
    fn a_type_name_in_three_files_is_found() {
        let files = [
            ("crates/a/src/x.rs", "//! X.\npub struct Place;\nstruct State;"),
            ("crates/b/src/y.rs", "pub(crate) enum Place {}\nstruct Place2;\nstruct State;"),
            ("crates/b/src/z/mod.rs", "trait Place {}\nstruct State;"),
        ];
        let findings = check_repeated(&tree(&files));
        let found: Vec<(&str, usize)> =
            findings.iter().map(|finding| (finding.path.as_str(), finding.line)).collect();
        assert_eq!(found, [("crates/a/src/x.rs", 2)]);
        assert!(findings[0].what.starts_with("`Place` is defined in crates/a/src/x.rs, crates/b/src/y.rs"));
        assert_eq!(check_repeated(&tree(&files[..2])), []);
    }

    #[test]
    fn tests_strings_and_associated_types_do_not_define_types() {
        let files = [
            ("crates/a/src/x.rs", "struct Place;"),
            ("crates/b/src/y.rs", "enum Place {}"),
            (
                "crates/b/src/z.rs",
                "#[cfg(test)]\nmod tests {\n    struct Place;\n}\nimpl A for B { type Place = u8; }",
            ),
            ("crates/b/src/tests.rs", "struct Place;"),
            (
                "crates/b/src/v.rs",
                "// struct Place;\nconst A: &str = \"struct Place;\";\nforward! { enum identifier }",
            ),
            ("crates/b/tests/it/main.rs", "struct Place;"),
            ("xtask/src/main.rs", "struct Place;"),
        ];
        assert_eq!(check_repeated(&tree(&files)), []);
    }

    const LIST: &str =
        "# Style\n\n## Words that are not names\nThese.\n\n```text\ntold keeper\nstill\n```\n\n## More\n";

    #[test]
    fn forbidden_names_of_files_types_and_public_functions_are_found() {
        let text = "pub struct Told;\nstruct KeeperTask;\nenum Keeper {}\nimpl A {\n    pub const fn still(&self) {}\n    \
                    pub(crate) fn told() {}\n    fn still() {}\n    pub async fn told_again() {}\n}\n";
        let tree =
            tree(&[("STYLE.md", LIST), ("crates/a/src/keeper.rs", text), ("crates/a/src/keepers.rs", "")]);
        let findings = check_words(&tree);
        let mut found: Vec<(usize, &str)> = findings
            .iter()
            .map(|finding| (finding.line, finding.what.split('`').nth(1).unwrap_or_default()))
            .collect();
        found.sort_unstable();
        assert_eq!(found, [(1, "Told"), (1, "keeper"), (3, "Keeper"), (5, "still")]);
    }

    #[test]
    fn a_missing_list_is_a_finding() {
        for style in ["# Style\n", "## Words that are not names\nNone.\n\n## Other\n```\na\n```\n"] {
            let findings = check_words(&tree(&[("STYLE.md", style), ("crates/a/src/told.rs", "")]));
            assert_eq!(findings.len(), 1, "{style}");
            assert_eq!(findings[0].path, "STYLE.md");
        }
        assert_eq!(check_words(&tree(&[])).len(), 1);
    }
}
