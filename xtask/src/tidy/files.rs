//! Names and headers of source files, and their descriptions in ARCHITECTURE.md.

use super::Finding;
use super::tree::{File, Tree};

/// Unspecific names, alone or as the start of a longer one.
const UNSPECIFIC: [&str; 2] = ["common", "misc"];
const UNSPECIFIC_STARTS: [&str; 2] = ["util", "helper"];

pub(super) fn check(file: &File) -> Vec<Finding> {
    let finding = |what: String| Finding { path: file.path.clone(), line: 1, what };
    let mut findings = Vec::new();
    // Under testdata a source file is data, and its line numbers may be expected output.
    if !file.text.starts_with("//!") && !file.path.split('/').any(|folder| folder == "testdata") {
        findings.push(finding(
            "does not start with `//!`; describe its contents and what it must not know".into(),
        ));
    }
    if let Some(part) = file.path.split('/').find(|part| is_unspecific(part.trim_end_matches(".rs"))) {
        findings.push(finding(format!("`{part}` is unspecific; name it for its main type or its job")));
    }
    findings
}

fn is_unspecific(name: &str) -> bool {
    UNSPECIFIC.contains(&name) || UNSPECIFIC_STARTS.iter().any(|start| name.starts_with(start))
}

/// Checks that every folder of `crates/` is named. Returns `None` if there is no ARCHITECTURE.md.
pub(super) fn check_architecture(tree: &Tree) -> Option<Vec<Finding>> {
    let path = "ARCHITECTURE.md";
    let text = &tree.files.iter().find(|file| file.path == path)?.text;
    let mut crates: Vec<&str> = tree
        .files
        .iter()
        .filter_map(|file| Some(file.path.strip_prefix("crates/")?.split_once('/')?.0))
        .collect();
    crates.dedup();
    let missing = crates.into_iter().filter(|name| !is_named(text, name));
    let what = |name| format!("crates/{name} is not described; add a section");
    Some(missing.map(|name| Finding { path: path.into(), line: 1, what: what(name) }).collect())
}

/// Checks that every source file that ARCHITECTURE.md names in backticks exists: under that path, or with that ending.
pub(super) fn check_named_files(tree: &Tree) -> Vec<Finding> {
    let path = "ARCHITECTURE.md";
    let Some(document) = tree.files.iter().find(|file| file.path == path) else { return Vec::new() };
    let mut findings = Vec::new();
    for (number, line) in document.text.lines().enumerate() {
        for name in named_files(line).filter(|name| !tree.files.iter().any(|file| is_at(&file.path, name))) {
            let what = format!("there is no file `{name}`; name the current file");
            findings.push(Finding { path: path.into(), line: number + 1, what });
        }
    }
    findings
}

/// Checks that the section of a crate in ARCHITECTURE.md names only files of that crate.
pub(super) fn check_crate_sections(tree: &Tree) -> Vec<Finding> {
    let path = "ARCHITECTURE.md";
    let Some(document) = tree.files.iter().find(|file| file.path == path) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut section: Option<String> = None;
    for (number, line) in document.text.lines().enumerate() {
        if line.starts_with('#') {
            let name = line.strip_prefix("### `crates/").and_then(|rest| rest.split_once('`'));
            section = name.map(|(name, _)| format!("crates/{name}/"));
        }
        let Some(folder) = &section else { continue };
        let is_inside = |name: &str| {
            tree.files.iter().any(|file| file.path.starts_with(folder.as_str()) && is_at(&file.path, name))
        };
        for name in named_files(line).filter(|name| !is_inside(name)) {
            let what = format!("`{name}` is not a file of {folder}; move it to the section of its crate");
            findings.push(Finding { path: path.into(), line: number + 1, what });
        }
    }
    findings
}

/// Returns the source files that a line names in backticks.
fn named_files(line: &str) -> impl Iterator<Item = &str> {
    // Every second piece is between backticks.
    line.split('`').skip(1).step_by(2).filter(|name| name.ends_with(".rs"))
}

/// Returns whether a path is `name`, or ends with it after a slash.
fn is_at(path: &str, name: &str) -> bool {
    path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn is_named(text: &str, name: &str) -> bool {
    let longer = |next: char| next.is_alphanumeric() || next == '-' || next == '_';
    let folder = format!("crates/{name}");
    text.contains(&format!("`{name}`"))
        || text.match_indices(&folder).any(|(at, _)| !text[at + folder.len()..].starts_with(longer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        check(&File::new(path, text)).len()
    }

    #[test]
    fn a_source_file_starts_with_documentation() {
        assert_eq!(findings("crates/x/build.rs", "fn main() {}"), 1);
        assert_eq!(findings("crates/x/src/main.rs", "//! Main.\nfn main() {}"), 0);
        assert_eq!(findings("crates/x/testdata/fail.rs", "fn main() {}"), 0);
    }

    #[test]
    fn unspecific_names_are_found() {
        for path in ["src/util.rs", "src/utils/a.rs", "tests/common/mod.rs", "src/helpers.rs", "src/misc.rs"]
        {
            assert_eq!(findings(path, "//!"), 1, "{path}");
        }
        for path in ["src/commonmark.rs", "src/inflight.rs", "src/permisc.rs"] {
            assert_eq!(findings(path, "//!"), 0, "{path}");
        }
    }

    #[test]
    fn a_file_that_the_architecture_names_exists() {
        let tree = |text: &str| Tree {
            files: vec![File::new("ARCHITECTURE.md", text), File::new("crates/http/src/pool.rs", "")],
        };
        let count = |text| check_named_files(&tree(text)).len();
        assert_eq!(count("`pool.rs`, `src/pool.rs`, `crates/http/src/pool.rs` and `Pool`"), 0);
        assert_eq!(count("`ool.rs` and `crates/http/src/lane.rs`"), 2);
    }

    #[test]
    fn the_section_of_a_crate_names_only_its_own_files() {
        let tree = |text: &str| Tree {
            files: vec![
                File::new("ARCHITECTURE.md", text),
                File::new("crates/http/src/pool.rs", ""),
                File::new("crates/host/src/slot/mod.rs", ""),
            ],
        };
        let lines = |text| -> Vec<usize> {
            check_crate_sections(&tree(text)).into_iter().map(|finding| finding.line).collect()
        };
        assert_eq!(lines("### `crates/http`: a client\n`pool.rs` and `mod.rs`\n"), [2]);
        assert_eq!(lines("### `crates/host`: x\n`slot/mod.rs`, `crates/http/src/pool.rs`\n"), [2]);
        assert_eq!(lines("### `crates/http`: x\n`pool.rs`, `src/pool.rs`\n## Other\n`mod.rs`\n"), [0; 0]);
    }

    #[test]
    fn every_crate_is_described() {
        let tree = |text: &str| Tree {
            files: vec![
                File::new("ARCHITECTURE.md", text),
                File::new("crates/http/src/lib.rs", ""),
                File::new("crates/http/src/pool.rs", ""),
                File::new("crates/service/src/lib.rs", ""),
            ],
        };
        let count = |text| check_architecture(&tree(text)).map(|findings| findings.len());
        assert_eq!(count("`crates/http`, crates/service: both"), Some(0));
        assert_eq!(count("`http` and crates/service-side"), Some(1));
        assert_eq!(check_architecture(&Tree { files: vec![] }), None);
    }
}
