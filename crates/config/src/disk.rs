//! Reads files with a size limit. Files are changed by [`update`](crate::update::update) only.
//!
//! Invariant: a file that others could have written is not read where it must be the user's own.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::error::{ConfigError, ConfigErrorKind};

/// Size limit of a configuration file.
pub(crate) const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// Size limit of an imported file: Claude Code keeps its history in the same file.
pub(crate) const MAX_FOREIGN_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Who owns a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The user: only they may have written it, and it is written with mode 0600.
    User,
    /// Shared with other users, such as the file of a project.
    Shared,
}

/// Reads the text of a file of at max `max` bytes; `None` if there is no file.
///
/// # Errors
/// When it cannot be read, is not a regular file, is too large or not UTF-8, or is a user's own file that others could
/// have written.
pub fn read(path: &Path, owner: Owner, max: u64) -> Result<Option<String>, ConfigError> {
    Ok(read_with_metadata(path, owner, max)?.map(|(text, _)| text))
}

/// Returns `None` when a file was not found.
pub(crate) fn if_found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// As [`read`], with the metadata of the descriptor that was read.
pub(crate) fn read_with_metadata(
    path: &Path,
    owner: Owner,
    max: u64,
) -> Result<Option<(String, fs::Metadata)>, ConfigError> {
    let read_error = |error: &io::Error| io_error(path, "read it", error);
    // Non-blocking: the path may name a pipe.
    let file =
        OpenOptions::new().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(path);
    let Some(file) = if_found(file).map_err(|error| read_error(&error))? else { return Ok(None) };
    let metadata = file.metadata().map_err(|error| read_error(&error))?;
    if !metadata.is_file() {
        return Err(io_error(path, "read it", &io::Error::other("it is not a regular file")));
    }
    if owner == Owner::User {
        check_ownership(path, &metadata)?;
    }
    let mut bytes = Vec::new();
    file.take(max + 1).read_to_end(&mut bytes).map_err(|error| read_error(&error))?;
    if bytes.len() as u64 > max {
        return Err(ConfigError::new("", ConfigErrorKind::TooLarge { max }).in_file(path));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let what = format!("byte {} is not UTF-8; save the file as UTF-8", error.utf8_error().valid_up_to());
        ConfigError::new("", ConfigErrorKind::Syntax { what }).in_file(path)
    })?;
    Ok(Some((text, metadata)))
}

/// Rejects a file that other users could have written, as ssh does.
fn check_ownership(path: &Path, metadata: &fs::Metadata) -> Result<(), ConfigError> {
    let us = rustix::process::geteuid().as_raw();
    let exposed = |what, remedy| {
        Err(ConfigError::new("", ConfigErrorKind::InsecureFile { what, remedy }).in_file(path))
    };
    if metadata.uid() != us && metadata.uid() != 0 {
        exposed("the file belongs to another user", format!("chown {us} {}", path.display()))
    } else if metadata.mode() & 0o022 != 0 {
        exposed("other users may write the file", format!("chmod go-w {}", path.display()))
    } else {
        Ok(())
    }
}

/// Converts an I/O error of a file; `doing` names the operation, like `read it`.
pub fn io_error(path: &Path, doing: &'static str, error: &io::Error) -> ConfigError {
    let problem = ConfigErrorKind::Io { doing, why: error.to_string(), kind: error.kind() };
    ConfigError::new("", problem).in_file(path)
}
