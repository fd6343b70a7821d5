//! A directory whose files only its owner can reach: safety checks, atomic replacement, locks.
//!
//! Invariants: the directory has mode 0700 and its files 0600, whatever the umask; neither a link, nor a file of another
//! user, nor one that others can read or change is ever opened for its contents; files are named relative to the open
//! directory, so a directory that is exchanged meanwhile is never mixed with its successor; a reader sees the old contents
//! of a file or the new ones. Lock files are never removed, so everybody locks the same one.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use zeroize::Zeroizing;

use crate::error::StoreError;

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// The permissions of group and others.
const OTHERS: u32 = 0o077;
/// Neither follows a link nor blocks on a pipe.
const FILE_FLAGS: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// The path of a private directory.
#[derive(Debug, Clone)]
pub(super) struct PrivateDirectory {
    path: PathBuf,
}

/// An open private directory that passed the checks.
pub(super) struct OpenDirectory {
    directory: File,
    path: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Directory,
    Regular,
}

impl PrivateDirectory {
    /// Returns the directory at a path.
    pub(super) fn new(path: &Path) -> Result<Self, StoreError> {
        let absolute = std::path::absolute(path).map_err(|error| file_error("find", path, error))?;
        // Without a slash at the end, through which a link would be followed.
        Ok(Self { path: absolute.components().collect() })
    }

    /// Returns the path of a file in it.
    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Opens the directory; `None` if it does not exist.
    pub(super) fn open(&self) -> Result<Option<OpenDirectory>, StoreError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = match rustix::fs::open(&self.path, flags, Mode::empty()) {
            Ok(descriptor) => File::from(descriptor),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(open_error(&self.path, error)),
        };
        let metadata = directory.metadata().map_err(|error| file_error("read", &self.path, error))?;
        check(&self.path, &metadata, FileKind::Directory)?;
        Ok(Some(OpenDirectory { directory, path: self.path.clone() }))
    }

    /// Opens the directory, and creates it if it does not exist.
    pub(super) fn create(&self) -> Result<OpenDirectory, StoreError> {
        if let Some(open) = self.open()? {
            return Ok(open);
        }
        let create_error = |error| file_error("create", &self.path, error);
        create_with_parents(&self.path).map_err(create_error)?;
        self.open()?.ok_or_else(|| create_error(io::ErrorKind::NotFound.into()))
    }
}

impl OpenDirectory {
    /// Opens a file for reading; `None` if it does not exist.
    pub(super) fn open_file(&self, name: &str) -> Result<Option<(File, Metadata)>, StoreError> {
        self.open_with(name, OFlags::RDONLY | FILE_FLAGS)
    }

    /// Reads an open file of at most `max` bytes.
    pub(super) fn read(&self, name: &str, file: &File, max: u64) -> Result<Zeroizing<Vec<u8>>, StoreError> {
        let path = self.path.join(name);
        let mut bytes = Zeroizing::new(Vec::new());
        file.take(max.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| file_error("read", &path, error))?;
        match bytes.len() as u64 > max {
            true => Err(StoreError::Damaged {
                path: path.display().to_string(),
                reason: format!("it has more than {max} bytes"),
            }),
            false => Ok(bytes),
        }
    }

    /// Replaces a file: writes and syncs a draft, renames it over the file and syncs the directory. The caller excludes
    /// others that replace the same file.
    pub(super) fn replace(&self, name: &str, contents: &[u8]) -> Result<(), StoreError> {
        let draft = format!("{name}.draft");
        let written = self.write_draft(&draft, contents).and_then(|()| {
            rustix::fs::renameat(&self.directory, &draft, &self.directory, name)?;
            match self.directory.sync_all() {
                // Some file systems cannot sync a directory; there the rename is as durable as it gets.
                Err(error)
                    if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
                {
                    Ok(())
                }
                synced => synced,
            }
        });
        written.map_err(|error| {
            // The first error is the one to report.
            _ = rustix::fs::unlinkat(&self.directory, &draft, AtFlags::empty());
            file_error("write", &self.path.join(name), error)
        })
    }

    fn write_draft(&self, draft: &str, contents: &[u8]) -> io::Result<()> {
        // A process that was killed may have left one.
        match rustix::fs::unlinkat(&self.directory, draft, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let mut file = self.create_file(draft, OFlags::WRONLY)?;
        file.write_all(contents)?;
        file.sync_all()
    }

    /// Creates a file that must not exist.
    fn create_file(&self, name: &str, access: OFlags) -> io::Result<File> {
        let flags = access | OFlags::CREATE | OFlags::EXCL | FILE_FLAGS;
        let mode = Mode::from_raw_mode(FILE_MODE as rustix::fs::RawMode);
        let file = File::from(rustix::fs::openat(&self.directory, name, flags, mode)?);
        // The mode asked for, whatever the umask.
        file.set_permissions(fs::Permissions::from_mode(FILE_MODE))?;
        Ok(file)
    }

    /// Takes the exclusive lock on a lock file, which is released when the file is closed; `None` if somebody holds it.
    pub(super) fn try_lock(&self, name: &str) -> Result<Option<File>, StoreError> {
        let path = self.path.join(name);
        let lock_error = |error| file_error("lock", &path, error);
        let file = match self.create_file(name, OFlags::RDWR) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match self.open_with(name, OFlags::RDWR | FILE_FLAGS)? {
                    Some((file, _)) => file,
                    None => return Ok(None),
                }
            }
            Err(error) => return Err(lock_error(error)),
        };
        match file.try_lock() {
            // Somebody removed the file by hand, and others lock its successor.
            Ok(()) if !self.is_at(&file, name)? => Ok(None),
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(lock_error(error)),
        }
    }

    /// Returns whether a name still names this file.
    fn is_at(&self, file: &File, name: &str) -> Result<bool, StoreError> {
        let ours = file.metadata().map_err(|error| file_error("lock", &self.path.join(name), error))?;
        let there = self.open_with(name, OFlags::RDWR | FILE_FLAGS)?;
        Ok(there.is_some_and(|(_, there)| (there.dev(), there.ino()) == (ours.dev(), ours.ino())))
    }

    fn open_with(&self, name: &str, flags: OFlags) -> Result<Option<(File, Metadata)>, StoreError> {
        let path = self.path.join(name);
        let file = match rustix::fs::openat(&self.directory, name, flags, Mode::empty()) {
            Ok(descriptor) => File::from(descriptor),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(open_error(&path, error)),
        };
        let metadata = file.metadata().map_err(|error| file_error("read", &path, error))?;
        check(&path, &metadata, FileKind::Regular)?;
        Ok(Some((file, metadata)))
    }
}

/// Creates a directory and its missing parents with mode 0700, whatever the umask.
fn create_with_parents(path: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent()
        && !parent.exists()
    {
        create_with_parents(parent)?;
    }
    match fs::DirBuilder::new().mode(DIRECTORY_MODE).create(path) {
        // A umask may have removed permissions of the owner.
        Ok(()) if fs::symlink_metadata(path)?.mode() & 0o777 != DIRECTORY_MODE => {
            fs::set_permissions(path, fs::Permissions::from_mode(DIRECTORY_MODE))
        }
        // Another process may have created it at the same time.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Checks that only the user of this process can reach a file.
fn check(path: &Path, metadata: &Metadata, expected: FileKind) -> Result<(), StoreError> {
    let shown = quoted(path);
    let (is_expected, mode) = match expected {
        FileKind::Directory => (metadata.is_dir(), DIRECTORY_MODE),
        FileKind::Regular => (metadata.is_file(), FILE_MODE),
    };
    let reason = if !is_expected {
        format!("it is not a regular file\nremove it: `rm {shown}`")
    } else if metadata.uid() != rustix::process::geteuid().as_raw() {
        format!(
            "it belongs to the user with id {}\ntake it over: `sudo chown $(id -u) {shown}`",
            metadata.uid()
        )
    } else if metadata.mode() & OTHERS != 0 {
        let found = metadata.mode() & 0o777;
        format!("its mode {found:04o} gives access to other users\nrepair it: `chmod {mode:o} {shown}`")
    } else {
        return Ok(());
    };
    Err(StoreError::Unsafe { path: path.display().to_string(), reason })
}

/// Explains why a file cannot be opened. The flags make the system refuse a link with different errors.
fn open_error(path: &Path, error: Errno) -> StoreError {
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        let reason = format!("it is a symbolic link\nremove the link: `rm {}`", quoted(path));
        return StoreError::Unsafe { path: path.display().to_string(), reason };
    }
    file_error("open", path, error.into())
}

pub(super) fn file_error(action: &'static str, path: &Path, error: io::Error) -> StoreError {
    StoreError::File { action, path: path.display().to_string(), reason: error.to_string() }
}

/// Returns a path as a word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,".contains(c);
    match text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_commands_are_quoted_for_a_shell() {
        assert_eq!(quoted(Path::new("/a/b.c-d")), "/a/b.c-d");
        assert_eq!(quoted(Path::new("/it's here")), r"'/it'\''s here'");
    }
}
