//! Indexes of findings: each id of an index has a test whose name begins with it, or its sentence in the documents.
//!
//! A line is `ID test PREFIX [FILE]`, `ID docs FILE "SENTENCE"`, `ID later ISSUE` or `ID open`. An id may have several
//! lines. Open ids are printed and do not fail: they are being worked on.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::{File, Tree};

/// A file of ids, and the ids that it must have.
struct Index {
    path: &'static str,
    /// Number of ids of each group. A lower-case group is an item of an issue rather than a row of the trial.
    groups: &'static [(&'static str, u32)],
    single: &'static [&'static str],
    /// Number of digits in an id.
    digits: usize,
}

const INDEXES: [Index; 2] = [
    Index {
        path: "testdata/findings.txt",
        groups: &[("S", 11), ("C", 16), ("D", 10), ("A", 13), ("V", 14)],
        single: &["p6"],
        digits: 1,
    },
    Index { path: "testdata/login-breakage.txt", groups: &[("B", 23)], single: &[], digits: 2 },
];

/// Returns findings and remarks about the indexes. An index that is not in the tree is skipped.
pub(super) fn check(tree: &Tree) -> (Vec<Finding>, Vec<String>) {
    let tests = test_names(tree);
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    for index in &INDEXES {
        if let Some(file) = tree.files.iter().find(|file| file.path == index.path) {
            check_index(tree, index, file, &tests, (&mut findings, &mut notes));
        }
    }
    (findings, notes)
}

fn check_index(
    tree: &Tree,
    index: &Index,
    file: &File,
    tests: &BTreeSet<TestName<'_>>,
    (findings, notes): (&mut Vec<Finding>, &mut Vec<String>),
) {
    let (mut open, mut settled, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut finding =
        |line: usize, what: String| findings.push(Finding { path: index.path.into(), line, what });
    for (number, line) in file.text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (id, rest) = line.split_once(' ').unwrap_or((line, ""));
        seen.insert(id.to_owned());
        match rest {
            "open" => {
                let prefix = format!("{}_", id.to_ascii_lowercase());
                let has_test = tests.iter().any(|test| test.name.starts_with(&prefix));
                if has_test { settled.push(id) } else { open.push(id) }
            }
            _ => {
                if let Err(what) = check_line(tree, tests, line) {
                    finding(number + 1, what);
                }
            }
        }
    }
    for id in index.ids() {
        if !seen.remove(&id) {
            finding(1, format!("{id} is missing; add a line for it"));
        }
    }
    for id in seen {
        finding(1, format!("there is no finding `{id}`"));
    }
    for (ids, what) in [(open, "open findings without a test"), (settled, "open findings that have a test")] {
        if !ids.is_empty() {
            notes.push(format!("{what}: {}", ids.join(" ")));
        }
    }
}

/// Checks a line of an id that is not open.
fn check_line(tree: &Tree, tests: &BTreeSet<TestName<'_>>, line: &str) -> Result<(), String> {
    let words: Vec<&str> = line.splitn(4, ' ').collect();
    match *words {
        [id, "test", prefix, ref place @ ..] if !prefix.is_empty() => {
            let is_there = |test: &TestName<'_>| place.first().is_none_or(|place| test.path == *place);
            match tests.iter().any(|test| test.name.starts_with(prefix) && is_there(test)) {
                true => Ok(()),
                false => Err(format!(
                    "{id}: no test begins with `{}`; write it, or make the line `{id} open`",
                    words[2..].join("` in `")
                )),
            }
        }
        [id, "docs", path, sentence] => {
            let file = tree.files.iter().find(|file| file.path == path);
            match file.is_some_and(|file| contains(&file.text, sentence.trim_matches('"'))) {
                true => Ok(()),
                false => Err(format!("{id}: the sentence is not in the document: {path} {sentence}")),
            }
        }
        [_, "later", ref issue @ ..] if !issue.is_empty() => Ok(()),
        _ => Err(format!("`{line}` is not `ID test|docs|later|open …`")),
    }
}

impl Index {
    fn ids(&self) -> Vec<String> {
        let number = |group: &str, row: u32| format!("{group}{row:0digits$}", digits = self.digits);
        let rows =
            self.groups.iter().flat_map(|(group, count)| (1..=*count).map(move |row| number(group, row)));
        rows.chain(self.single.iter().map(|id| (*id).to_owned())).collect()
    }
}

/// A function of a Rust source. Whether it is a test is left to the compiler, which warns about unused functions.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct TestName<'a> {
    name: &'a str,
    path: &'a str,
}

fn test_names(tree: &Tree) -> BTreeSet<TestName<'_>> {
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let mut found = BTreeSet::new();
    for file in tree.files.iter().filter(|file| file.is_rust()) {
        for (at, _) in file.text.match_indices("fn ") {
            let name = &file.text[at + 3..];
            let end = name.find(|char| !is_word(char)).unwrap_or(name.len());
            found.insert(TestName { name: &name[..end], path: &file.path });
        }
    }
    found
}

/// Returns whether a text contains a sentence, regardless of line breaks.
fn contains(text: &str, sentence: &str) -> bool {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    flat(text).contains(&flat(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRIAL: &Index = &INDEXES[0];
    const LOGIN: &Index = &INDEXES[1];

    /// Returns an index of all ids, with these lines instead of the default ones.
    fn tree(index: &Index, lines: &str) -> Tree {
        let named: BTreeSet<&str> = lines.lines().filter_map(|line| line.split(' ').next()).collect();
        let mut text = lines.to_owned();
        for id in index.ids().iter().filter(|id| !named.contains(id.as_str())) {
            text += &format!("\n{id} later never");
        }
        let files = vec![
            File::new(index.path, &text),
            File::new("README.md", "One\nsentence in it.\n"),
            File::new("src/a.rs", "#[test]\nfn s1_a_schema_is_bounded() {}\nasync fn c3_lists() {}\n"),
            File::new("src/b.rs", "#[test]\nfn b02_a_resource_is_omitted() {}\n"),
        ];
        Tree { files }
    }

    #[test]
    fn every_id_has_its_test_or_its_sentence() {
        let lines = "S1 test s1_\nD10 docs README.md \"One sentence\"\nC3 open\nC4 open";
        let (findings, notes) = check(&tree(TRIAL, lines));
        assert_eq!(findings, []);
        assert_eq!(notes, ["open findings without a test: C4", "open findings that have a test: C3"]);
        assert_eq!(check(&tree(LOGIN, "B02 test b02_ src/b.rs")), (vec![], vec![]));
        assert_eq!(check(&Tree { files: vec![] }), (vec![], vec![]));
    }

    #[test]
    fn missing_tests_and_sentences_are_found() {
        for (index, lines, what) in [
            (TRIAL, "S11 test s11_", "S11: no test begins with `s11_`"),
            (TRIAL, "D10 docs README.md \"Another\"", "the sentence is not in the document"),
            (TRIAL, "X1 open", "there is no finding `X1`"),
            (TRIAL, "S1", "is not `ID"),
            (TRIAL, "S1 later", "is not `ID"),
            (LOGIN, "B02 test b02_ src/a.rs", "B02: no test begins with `b02_` in `src/a.rs`"),
            (LOGIN, "B2 open", "there is no finding `B2`"),
        ] {
            let (findings, _) = check(&tree(index, lines));
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert!(findings[0].what.contains(what), "{findings:?}");
        }
        let only = Tree { files: vec![File::new(LOGIN.path, "B01 open")] };
        assert_eq!(check(&only).0.len(), LOGIN.ids().len() - 1);
    }
}
