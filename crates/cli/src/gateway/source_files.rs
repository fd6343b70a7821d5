//! The files that a gateway was configured from, and their contents: tells whether a change is one.

use std::path::{Path, PathBuf};

/// The largest file that is compared whole; larger ones are rejected when they are read.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Files and their contents; `None` for a file that cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SourceFiles(Vec<(PathBuf, Option<Vec<u8>>)>);

impl SourceFiles {
    /// Reads the files.
    pub(crate) fn read(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let read = |path: PathBuf| {
            let contents = read_file(&path);
            (path, contents)
        };
        Self(paths.into_iter().map(read).collect())
    }

    /// Reads the same files again.
    pub(crate) fn reread(&self) -> Self {
        Self::read(self.paths())
    }

    /// Returns the contents of a file; `None` if it is not one of these, or cannot be read.
    pub(crate) fn contents(&self, path: &Path) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| known == path)?.1.as_deref()
    }

    /// Returns the paths.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.0.iter().map(|(path, _)| path.clone()).collect()
    }
}

fn read_file(path: &Path) -> Option<Vec<u8>> {
    let is_bounded = std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() <= MAX_BYTES);
    if is_bounded { std::fs::read(path).ok() } else { None }
}
