//! Test programs with `harness = false`: the compiler silently ignores `#[test]` functions in them.

use super::Finding;
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let folders: Vec<String> =
        tree.files.iter().flat_map(|file| own_harness(&file.path, &file.text)).collect();
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.is_rust()) {
        if !folders.iter().any(|folder| file.path.starts_with(folder)) {
            continue;
        }
        for (number, line) in file.text.lines().enumerate() {
            let line = line.trim();
            if line == "#[test]" || line.starts_with("#[tokio::test") {
                findings.push(Finding {
                    path: file.path.clone(),
                    line: number + 1,
                    what: "`#[test]` does nothing in a program with its own harness; list the function in `trials!`"
                        .into(),
                });
            }
        }
    }
    findings
}

/// Returns the folders of test programs with `harness = false` in a manifest.
fn own_harness(path: &str, text: &str) -> Vec<String> {
    let Some(package) = path.strip_suffix("Cargo.toml") else { return Vec::new() };
    let tables = text.split("\n[").filter(|table| table.starts_with("[test]]"));
    let own = tables.filter(|table| table.contains("harness = false"));
    let folder = |table: &str| {
        let (_, rest) = table.split_once("path = \"")?;
        let (folder, _) = rest.split_once("/main.rs\"")?;
        Some(format!("{package}{folder}/"))
    };
    own.filter_map(folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::File;

    #[test]
    fn a_test_that_would_not_run_is_found() {
        let manifest = "[package]\nname = \"a\"\n\n[[test]]\nname = \"it\"\npath = \"tests/it/main.rs\"\n\n\
                        [[test]]\nname = \"own\"\npath = \"tests/own/main.rs\"\nharness = false\n";
        let test = "//! A.\n#[test]\nfn a() {}\n";
        let tree = Tree {
            files: vec![
                File::new("crates/a/Cargo.toml", manifest),
                File::new("crates/a/tests/it/main.rs", test),
                File::new("crates/a/tests/own/main.rs", test),
                File::new("crates/a/tests/own/deep/b.rs", "//! B.\n    #[tokio::test(flavor = \"x\")]\n"),
            ],
        };
        let found: Vec<(String, usize)> =
            check(&tree).into_iter().map(|finding| (finding.path, finding.line)).collect();
        assert_eq!(
            found,
            [("crates/a/tests/own/main.rs".into(), 2), ("crates/a/tests/own/deep/b.rs".into(), 2)]
        );
    }
}
