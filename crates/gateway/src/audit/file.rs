//! The audit log as a file that is rotated by its size.
//!
//! Invariants: the file is appended to, is readable by its owner only, and has one writer, which a lock ensures. A
//! failed write leaves no part of a line. A line is never divided between two files.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};

use super::error::AuditError;
use super::sink::AuditSink;

/// Sizes of an [`AuditFile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditFileOptions {
    /// The size at which the file is rotated. A longer line gets a file of its own.
    pub max_bytes: u64,
    /// The number of files, the current one included; at least 1. The oldest is removed.
    pub files: usize,
}

impl Default for AuditFileOptions {
    fn default() -> Self {
        Self { max_bytes: 64 * 1024 * 1024, files: 5 }
    }
}

impl AuditFileOptions {
    /// Sets the size at which the file is rotated.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes.max(1);
        self
    }

    /// Sets the number of files.
    #[must_use]
    pub fn with_files(mut self, files: usize) -> Self {
        self.files = files.max(1);
        self
    }
}

/// A rotated file: `audit.jsonl`, and before it `audit.jsonl.1`, `audit.jsonl.2` and so on.
#[derive(Debug)]
pub struct AuditFile {
    path: PathBuf,
    options: AuditFileOptions,
    file: File,
    /// The length up to the last complete line.
    len: u64,
    /// The file was renamed, and the next one could not be opened yet.
    is_renamed: bool,
}

impl AuditFile {
    /// Opens or creates the file, for its owner only.
    ///
    /// # Errors
    /// When it cannot be opened, is not a file, or another process writes it.
    pub fn open(path: impl Into<PathBuf>, options: AuditFileOptions) -> Result<Self, AuditError> {
        let path = path.into();
        match open_file(&path) {
            Ok((file, len)) => Ok(Self { path, options, file, len, is_renamed: false }),
            Err(source) => Err(AuditError::Open { path, source }),
        }
    }

    fn rotate(&mut self) -> io::Result<()> {
        if !self.is_renamed {
            self.file.sync_data()?;
            self.rename()?;
        }
        // A second attempt must not rename the files again.
        self.is_renamed = true;
        (self.file, self.len) = open_file(&self.path)?;
        self.is_renamed = false;
        Ok(())
    }

    fn rename(&self) -> io::Result<()> {
        let numbered = |number: usize| {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        if self.options.files == 1 {
            return std::fs::remove_file(&self.path);
        }
        for number in (1..self.options.files - 1).rev() {
            match std::fs::rename(numbered(number), numbered(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        std::fs::rename(&self.path, numbered(1))
    }
}

fn open_file(path: &Path) -> io::Result<(File, u64)> {
    // Not through a link that somebody else may have placed.
    let flags = (OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed();
    let file = OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    flock(&file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| io::Error::other("another process writes it"))?;
    Ok((file, metadata.len()))
}

impl AuditSink for AuditFile {
    fn write(&mut self, lines: &[Vec<u8>]) -> io::Result<usize> {
        let first = lines.first().map_or(0, Vec::len);
        let is_full = self.len > 0 && self.len + first as u64 > self.options.max_bytes;
        if is_full || self.is_renamed {
            self.rotate()?;
        }
        let mut fitting = Vec::new();
        let mut count = 0;
        for line in lines {
            let is_fitting = self.len + (fitting.len() + line.len()) as u64 <= self.options.max_bytes;
            if count > 0 && !is_fitting {
                break;
            }
            fitting.extend_from_slice(line);
            count += 1;
        }
        if let Err(error) = self.file.write_all(&fitting) {
            // A part may have been written. Shortening a file needs no space.
            self.file.set_len(self.len)?;
            return Err(error);
        }
        self.len += fitting.len() as u64;
        Ok(count)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
}
