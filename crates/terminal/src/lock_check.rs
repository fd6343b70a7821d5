//! Compares the design of a service with its lock file, or writes the lock file.

use std::path::{Path, PathBuf};
use std::{fs, io};

use switchboard_design::{Change, Design, DesignErrors, Lock, LockError};
use thiserror::Error;

/// Outcome of [`check_lock`].
#[derive(Debug)]
pub enum LockOutcome {
    /// The lock file was written from the design.
    Blessed,
    /// The design was compared; the differences from the lock file.
    Compared(Vec<Change>),
}

/// Error of [`check_lock`].
#[derive(Debug, Error)]
pub enum LockCheckError {
    /// The design is not valid.
    #[error("the design has mistakes:\n{0}")]
    Mistakes(DesignErrors),
    /// The file to write exists and is not a lock file.
    #[error("{} is not a lock file: move it away, or name another file with --lock", .0.display())]
    NotALock(PathBuf),
    /// The lock file cannot be written.
    #[error("{}: {error}", .path.display())]
    Write {
        /// The lock file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The lock file cannot be read.
    #[error("{}: {error}", .path.display())]
    Read {
        /// The lock file.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The lock file cannot be parsed.
    #[error("{}: {error}", .path.display())]
    Parse {
        /// The lock file.
        path: PathBuf,
        /// The cause.
        error: LockError,
    },
}

/// Compares a design with its lock file, or writes the lock file if `bless` is set.
///
/// # Errors
/// Returns an error when the design has mistakes, or the file cannot be read, parsed or written.
pub fn check_lock(design: &Design, path: &Path, bless: bool) -> Result<LockOutcome, LockCheckError> {
    design.check().map_err(LockCheckError::Mistakes)?;
    let owned_path = || path.to_owned();
    if bless {
        if let Ok(old) = fs::read(path)
            && String::from_utf8_lossy(&old).parse::<Lock>().is_err()
        {
            return Err(LockCheckError::NotALock(owned_path()));
        }
        fs::write(path, Lock::new(design).to_string())
            .map_err(|error| LockCheckError::Write { path: owned_path(), error })?;
        return Ok(LockOutcome::Blessed);
    }
    let text =
        fs::read_to_string(path).map_err(|error| LockCheckError::Read { path: owned_path(), error })?;
    let lock: Lock = text.parse().map_err(|error| LockCheckError::Parse { path: owned_path(), error })?;
    Ok(LockOutcome::Compared(lock.changes(design)))
}
