//! Index of findings: each id of `testdata/findings.txt` has a test whose name begins with it, or its sentence in the
//! documents.
//!
//! A line is `ID test PREFIX`, `ID docs FILE "SENTENCE"`, `ID later ISSUE` or `ID open`. An id may have several lines.
//! Open ids are printed and do not fail: they are being worked on.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::Tree;

const INDEX: &str = "testdata/findings.txt";

/// Number of ids of each group. A lower-case group is an item of an issue rather than a row of the trial.
const GROUPS: [(&str, u32); 5] = [("S", 11), ("C", 16), ("D", 10), ("A", 13), ("V", 14)];
const SINGLE: [&str; 1] = ["p6"];

/// Returns findings and remarks about the index; `None` if there is no index.
pub(super) fn check(tree: &Tree) -> Option<(Vec<Finding>, Vec<String>)> {
    let index = tree.files.iter().find(|file| file.path == INDEX)?;
    let tests = test_names(tree);
    let (mut findings, mut open, mut settled) = (Vec::new(), Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    for (number, line) in index.text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut finding =
            |what: String| findings.push(Finding { path: INDEX.into(), line: number + 1, what });
        let (id, rest) = line.split_once(' ').unwrap_or((line, ""));
        seen.insert(id.to_owned());
        let (how, what) = rest.split_once(' ').unwrap_or((rest, ""));
        match (how, what) {
            ("test", prefix) if !prefix.is_empty() => {
                if !tests.iter().any(|name| name.starts_with(prefix)) {
                    finding(format!(
                        "{id}: no test begins with `{prefix}`; write it, or make the line `{id} open`"
                    ));
                }
            }
            ("docs", place) => {
                let found = place.split_once(' ').is_some_and(|(path, sentence)| {
                    let file = tree.files.iter().find(|file| file.path == path);
                    file.is_some_and(|file| contains(&file.text, sentence.trim_matches('"')))
                });
                if !found {
                    finding(format!("{id}: the sentence is not in the document: {place}"));
                }
            }
            ("later", issue) if !issue.is_empty() => {}
            ("open", "") => {
                let prefix = format!("{}_", id.to_ascii_lowercase());
                match tests.iter().any(|name| name.starts_with(&prefix)) {
                    true => settled.push(id.to_owned()),
                    false => open.push(id.to_owned()),
                }
            }
            _ => finding(format!("`{line}` is not `ID test|docs|later|open …`")),
        }
    }
    for id in expected() {
        if !seen.remove(&id) {
            let what = format!("{id} is missing; add a line for it");
            findings.push(Finding { path: INDEX.into(), line: 1, what });
        }
    }
    for id in seen {
        findings.push(Finding { path: INDEX.into(), line: 1, what: format!("there is no finding `{id}`") });
    }
    let mut notes = Vec::new();
    for (ids, what) in [(open, "open findings without a test"), (settled, "open findings that have a test")] {
        if !ids.is_empty() {
            notes.push(format!("{what}: {}", ids.join(" ")));
        }
    }
    Some((findings, notes))
}

fn expected() -> Vec<String> {
    let rows = GROUPS.iter().flat_map(|(group, count)| (1..=*count).map(move |row| format!("{group}{row}")));
    rows.chain(SINGLE.iter().map(|id| (*id).to_owned())).collect()
}

/// Returns the names of functions in Rust sources. Whether one is a test is left to the compiler, which warns about
/// unused functions.
fn test_names(tree: &Tree) -> BTreeSet<String> {
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut names = BTreeSet::new();
    for file in tree.files.iter().filter(|file| file.is_rust()) {
        for (at, _) in file.text.match_indices("fn ") {
            let name = &file.text[at + 3..];
            let end = name.find(|char| !is_word(char)).unwrap_or(name.len());
            names.insert(name[..end].to_owned());
        }
    }
    names
}

/// Returns whether a text contains a sentence, regardless of line breaks.
fn contains(text: &str, sentence: &str) -> bool {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    flat(text).contains(&flat(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::File;

    /// Returns an index of all ids, with these lines instead of the default ones.
    fn index(lines: &str) -> Tree {
        let named: BTreeSet<&str> = lines.lines().filter_map(|line| line.split(' ').next()).collect();
        let mut text = lines.to_owned();
        for id in expected().iter().filter(|id| !named.contains(id.as_str())) {
            text += &format!("\n{id} later never");
        }
        let files = vec![
            File::new(INDEX, &text),
            File::new("README.md", "One\nsentence in it.\n"),
            File::new("src/a.rs", "#[test]\nfn s1_a_schema_is_bounded() {}\nasync fn c3_lists() {}\n"),
        ];
        Tree { files }
    }

    #[test]
    fn every_id_has_its_test_or_its_sentence() {
        let lines = "S1 test s1_\nD10 docs README.md \"One sentence\"\nC3 open\nC4 open";
        let (findings, notes) = check(&index(lines)).unwrap();
        assert_eq!(findings, []);
        assert_eq!(notes, ["open findings without a test: C4", "open findings that have a test: C3"]);
        assert_eq!(check(&Tree { files: vec![] }), None);
    }

    #[test]
    fn missing_tests_and_sentences_are_found() {
        for (lines, what) in [
            ("S11 test s11_", "S11: no test begins with `s11_`"),
            ("D10 docs README.md \"Another\"", "the sentence is not in the document"),
            ("X1 open", "there is no finding `X1`"),
            ("S1", "is not `ID"),
            ("S1 later", "is not `ID"),
        ] {
            let (findings, _) = check(&index(lines)).unwrap();
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert!(findings[0].what.contains(what), "{findings:?}");
        }
        let tree = Tree { files: vec![File::new(INDEX, "S1 open")] };
        assert_eq!(check(&tree).unwrap().0.len(), expected().len() - 1);
    }
}
