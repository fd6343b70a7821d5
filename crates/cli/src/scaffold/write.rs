//! Writes new files.
//!
//! Invariant: an existing file is never opened for writing.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// WriteOutcome of [`write_new`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteOutcome {
    /// The file was created.
    Created,
    /// The file existed and was kept.
    Kept,
}

/// Formats Rust source with the rustfmt of a folder; returns it unchanged if there is no rustfmt. Line breaks depend on
/// the length of the project's names.
pub(crate) fn format_source(folder: &Path, text: &str) -> String {
    let format = || -> io::Result<Option<String>> {
        let mut rustfmt = Command::new("rustfmt")
            .args(["--edition", "2024", "--emit", "stdout"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        if let Some(mut stdin) = rustfmt.stdin.take() {
            stdin.write_all(text.as_bytes())?;
        }
        let output = rustfmt.wait_with_output()?;
        Ok(String::from_utf8(output.stdout).ok().filter(|_| output.status.success()))
    };
    format().ok().flatten().unwrap_or_else(|| text.to_owned())
}

/// Writes a file and its parent folders, unless the path exists.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub(crate) fn write_new(path: &Path, text: &str) -> io::Result<WriteOutcome> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| WriteOutcome::Created),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(WriteOutcome::Kept),
        Err(error) => Err(error),
    }
}
