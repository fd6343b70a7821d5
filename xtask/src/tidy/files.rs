//! What files are called, how they open, and where crates are described.

use super::Finding;
use super::tree::{File, Tree};

/// Names that say nothing of what is inside, alone or as the beginning of a longer one.
const NAMELESS: [&str; 2] = ["common", "misc"];
const NAMELESS_STARTS: [&str; 2] = ["util", "helper"];

pub(super) fn check(file: &File) -> Vec<Finding> {
    let finding = |what: String| Finding { path: file.path.clone(), line: 1, what };
    let mut findings = Vec::new();
    // Under testdata a source file is data, and its line numbers may be part of what is expected.
    if !file.text.starts_with("//!") && !file.path.split('/').any(|folder| folder == "testdata") {
        findings
            .push(finding("does not open with `//!`; say what it holds and what it must not know".into()));
    }
    if let Some(part) = file.path.split('/').find(|part| is_nameless(part.trim_end_matches(".rs"))) {
        findings.push(finding(format!("`{part}` says nothing; name it after the one noun it holds")));
    }
    findings
}

fn is_nameless(name: &str) -> bool {
    NAMELESS.contains(&name) || NAMELESS_STARTS.iter().any(|start| name.starts_with(start))
}

/// Every folder of `crates/` must be named. `None` while there is nothing to look in.
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
    let what = |name| format!("crates/{name} is not named; give it a paragraph");
    Some(missing.map(|name| Finding { path: path.into(), line: 1, what: what(name) }).collect())
}

/// Every source file that ARCHITECTURE.md names in backticks must exist: under that path, or with that ending.
pub(super) fn check_named_files(tree: &Tree) -> Vec<Finding> {
    let path = "ARCHITECTURE.md";
    let Some(document) = tree.files.iter().find(|file| file.path == path) else { return Vec::new() };
    let exists = |name: &str| {
        let mut files = tree.files.iter();
        files.any(|file| {
            file.path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        })
    };
    let mut findings = Vec::new();
    for (number, line) in document.text.lines().enumerate() {
        // Between two backticks, every second piece.
        for name in line.split('`').skip(1).step_by(2).filter(|name| name.ends_with(".rs")) {
            if !exists(name) {
                let what = format!("there is no file `{name}`; name the file that holds it now");
                findings.push(Finding { path: path.into(), line: number + 1, what });
            }
        }
    }
    findings
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
    fn a_source_file_says_what_it_holds() {
        assert_eq!(findings("crates/x/build.rs", "fn main() {}"), 1);
        assert_eq!(findings("crates/x/src/main.rs", "//! Main.\nfn main() {}"), 0);
        assert_eq!(findings("crates/x/testdata/fail.rs", "fn main() {}"), 0);
    }

    #[test]
    fn a_name_is_an_address() {
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
    fn every_crate_has_its_place() {
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
