//! Writes files where there are none.
//!
//! Invariant: what is there is never opened for writing, whatever it is.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// What was done about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// There was none.
    Written,
    /// There was one.
    Kept,
}

/// A source file as rustfmt has it in this folder; as it is where there is no rustfmt. How lines break depends on how
/// long the names of a project are.
pub(crate) fn formatted(folder: &Path, text: &str) -> String {
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

/// Writes a file, with the folders it stands in, unless there is something of its name.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<Outcome> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| Outcome::Written),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Outcome::Kept),
        Err(error) => Err(error),
    }
}
