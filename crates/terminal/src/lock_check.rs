//! The design of a service checked against its lock file, or written to it.

use std::path::{Path, PathBuf};
use std::{fs, io};

use switchboard_design::{Change, Design, DesignErrors, Lock, LockError};
use thiserror::Error;

/// What checking a design against its lock file found or did.
#[derive(Debug)]
pub enum LockOutcome {
    /// The lock file was written from the design.
    Blessed,
    /// How the design differs from the lock file.
    Compared(Vec<Change>),
}

/// Why a design could not be checked against its lock file.
#[derive(Debug, Error)]
pub enum LockCheckError {
    /// The design itself is wrong.
    #[error("the design has mistakes:\n{0}")]
    Mistakes(DesignErrors),
    /// The file to be written exists and is not a lock.
    #[error("{} is no lock; move it away, or name another with --lock", .0.display())]
    NotALock(PathBuf),
    /// The lock file cannot be written.
    #[error("{}: {error}", .path.display())]
    Write {
        /// The lock file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The lock file cannot be read.
    #[error("{}: {error}", .path.display())]
    Read {
        /// The lock file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The lock file is not a lock.
    #[error("{}: {error}", .path.display())]
    Parse {
        /// The lock file.
        path: PathBuf,
        /// Why.
        error: LockError,
    },
}

/// Compares a design with its lock file or, with `bless`, writes the file.
///
/// # Errors
/// When the design has mistakes, or the file cannot be read, parsed or written.
pub fn check_lock(design: &Design, path: &Path, bless: bool) -> Result<LockOutcome, LockCheckError> {
    design.check().map_err(LockCheckError::Mistakes)?;
    let at = || path.to_owned();
    if bless {
        if let Ok(old) = fs::read(path)
            && String::from_utf8_lossy(&old).parse::<Lock>().is_err()
        {
            return Err(LockCheckError::NotALock(at()));
        }
        fs::write(path, Lock::new(design).to_string())
            .map_err(|error| LockCheckError::Write { path: at(), error })?;
        return Ok(LockOutcome::Blessed);
    }
    let text = fs::read_to_string(path).map_err(|error| LockCheckError::Read { path: at(), error })?;
    let lock: Lock = text.parse().map_err(|error| LockCheckError::Parse { path: at(), error })?;
    Ok(LockOutcome::Compared(lock.changes(design)))
}
