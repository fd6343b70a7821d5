//! The files to check: tracked by git, or added by the next `git add`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command::{self, TaskError};

#[derive(Debug)]
pub(super) struct Tree {
    pub(super) files: Vec<File>,
}

/// A text file, by its path from the root with `/` between the parts.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: String,
    pub(super) text: String,
}

impl Tree {
    pub(super) fn read(root: &Path) -> Result<Self, TaskError> {
        let mut paths = match git_files(root) {
            Ok(paths) => paths,
            // An unpacked release has no .git.
            Err(_) => walk_files(root)?,
        };
        paths.sort();
        paths.dedup();
        // Files that are not UTF-8 are not text; missing files were deleted but not yet committed.
        let read = |path: String| Some(File { text: fs::read_to_string(root.join(&path)).ok()?, path });
        Ok(Self { files: paths.into_iter().filter_map(read).collect() })
    }
}

impl File {
    #[cfg(test)]
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Returns whether the file belongs to tests.
    pub(super) fn is_test(&self) -> bool {
        let mut parts = self.path.split('/').rev();
        parts.next() == Some("tests.rs") || parts.any(|folder| folder == "tests" || folder == "testdata")
    }
}

fn git_files(root: &Path) -> Result<Vec<String>, TaskError> {
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    Ok(command::output(&mut git)?.split_terminator('\0').map(str::to_owned).collect())
}

fn walk_files(root: &Path) -> Result<Vec<String>, TaskError> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let at = root.join(&folder);
        let broken = |error| TaskError::new(format!("cannot read {}: {error}", at.display()));
        for entry in fs::read_dir(&at).map_err(broken)? {
            let entry = entry.map_err(broken)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if matches!(name.as_str(), "target" | ".cache" | ".git" | "node_modules") {
                continue;
            }
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            match entry.file_type().map_err(broken)?.is_dir() {
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_recognized_by_their_path() {
        let is_test = |path| File::new(path, "").is_test();
        assert!(is_test("crates/session/tests/it/main.rs"));
        assert!(is_test("testdata/talks/a.rs"));
        assert!(is_test("crates/protocol/src/jsonrpc/envelope/tests.rs"));
        assert!(!is_test("crates/protocol/src/jsonrpc/latests.rs"));
        assert!(!is_test("crates/session/src/tests_of_time.rs"));
    }

    #[test]
    fn without_git_the_folders_are_walk_files() {
        let root = std::env::temp_dir().join(format!("xtask-tree-{}", std::process::id()));
        fs::create_dir_all(root.join("crates/a/src")).unwrap();
        fs::create_dir_all(root.join("target/debug")).unwrap();
        fs::write(root.join("crates/a/src/lib.rs"), "//! A.").unwrap();
        fs::write(root.join("target/debug/x.rs"), "").unwrap();
        fs::write(root.join("README.md"), "").unwrap();
        let mut found = walk_files(&root).unwrap();
        found.sort();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, ["README.md", "crates/a/src/lib.rs"]);
    }
}
