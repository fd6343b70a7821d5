//! Locked read-modify-write of a file: the only way in which our files are changed.
//!
//! 1. A symbolic link is resolved: its final target is changed and the link stays. A dangling link is refused.
//! 2. An exclusive `flock` on a sibling file, `.NAME.lock`, excludes other processes that use this function.
//! 3. The file is read inside the lock, and the change is applied to the text that is there now.
//! 4. The new text goes to a draft beside the file and is synced. If a program that takes no lock (an editor) replaced
//!    the file meanwhile, its generation is another, and step 3 is repeated.
//! 5. The draft is renamed over the file and the directory is synced.
//!
//! Invariants: a reader sees the old text or the new one; a change that was reported as stored survives a crash and
//! every concurrent change; a process that is killed at any point leaves at max a lock file and a draft, which the next
//! change removes. Files of the user's own get mode 0600, in directories of mode 0700.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::disk::{Owner, if_found, io_error, read_with_metadata};
use crate::error::{ConfigError, ConfigErrorKind};

/// The timeout for the lock. Each holder keeps it for the time of two syncs.
const LOCK_TIMEOUT: Duration = Duration::from_secs(120);
/// The longest pause between two attempts to take the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(20);
/// How often a change is retried because a program that takes no lock changed the file.
const ATTEMPTS: usize = 16;

/// Applies a change to the text of a file (`None` if it does not exist) and stores the text that the change returns.
///
/// The change runs inside the lock, and again if another program replaced the file, so it must have no side effects.
///
/// # Errors
/// The change's own error, or why the file could not be read or stored. The file is then as it was.
pub fn update<T>(
    path: &Path,
    owner: Owner,
    max: u64,
    mut change: impl FnMut(Option<&str>) -> Result<(String, T), ConfigError>,
) -> Result<T, ConfigError> {
    let unwritable = |error: io::Error| io_error(path, "write it", &error);
    let target = UpdateTarget::resolve(path, owner).map_err(unwritable)?;
    let _lock = FileLock::acquire(&target).map_err(|error| io_error(&target.lock, "lock it", &error))?;
    for _ in 0..ATTEMPTS {
        let stored = read_with_metadata(&target.file, owner, max)?;
        let generation = stored.as_ref().map(|(_, metadata)| Generation::of(metadata));
        let stored = stored.map(|(text, _)| text);
        let (text, outcome) = change(stored.as_deref())?;
        if stored.as_deref() == Some(&text) {
            return Ok(outcome);
        }
        if text.len() as u64 > max {
            return Err(ConfigError::new("", ConfigErrorKind::TooLarge { max }).in_file(path));
        }
        target.write_draft(&text).map_err(unwritable)?;
        if generation == target.generation().map_err(unwritable)? {
            target.publish_draft().map_err(unwritable)?;
            return Ok(outcome);
        }
    }
    let busy = io::Error::new(io::ErrorKind::ResourceBusy, "another program keeps changing it; try again");
    Err(unwritable(busy))
}

/// The file to change, with symbolic links resolved, and its lock and draft.
struct UpdateTarget {
    file: PathBuf,
    directory: PathBuf,
    lock: PathBuf,
    draft: PathBuf,
    owner: Owner,
}

impl UpdateTarget {
    fn resolve(path: &Path, owner: Owner) -> io::Result<Self> {
        let file = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => path.canonicalize().map_err(|error| {
                let to = fs::read_link(path).unwrap_or_default();
                let why = format!(
                    "it is a symbolic link to {}, which cannot be resolved ({error}); create that file, or remove the link",
                    to.display()
                );
                io::Error::new(error.kind(), why)
            })?,
            _ => path.to_owned(),
        };
        let name = file.file_name().ok_or_else(|| io::Error::other("the path has no file name"))?;
        let directory = match file.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let mode = match owner {
            Owner::User => 0o700,
            Owner::Shared => 0o755,
        };
        fs::DirBuilder::new().recursive(true).mode(mode).create(&directory)?;
        let beside = |suffix: &str| {
            let mut beside = std::ffi::OsString::from(".");
            beside.push(name.to_string_lossy().trim_start_matches('.'));
            beside.push(suffix);
            directory.join(beside)
        };
        let (lock, draft) = (beside(".lock"), beside(".switchboard-draft"));
        Ok(Self { lock, draft, file, directory, owner })
    }

    /// Returns the current generation of the file.
    fn generation(&self) -> io::Result<Option<Generation>> {
        Ok(if_found(fs::metadata(&self.file))?.as_ref().map(Generation::of))
    }

    /// Writes and syncs the draft. Only the holder of the lock has one.
    fn write_draft(&self, text: &str) -> io::Result<()> {
        if_found(fs::remove_file(&self.draft))?;
        let mode = match (self.owner, fs::metadata(&self.file)) {
            (Owner::User, _) => 0o600,
            (Owner::Shared, Ok(metadata)) => metadata.mode() & 0o777,
            (Owner::Shared, Err(_)) => 0o644,
        };
        let mut draft = OpenOptions::new().write(true).create_new(true).mode(mode).open(&self.draft)?;
        let written = draft
            .write_all(text.as_bytes())
            // The mode asked for, whatever the umask.
            .and_then(|()| draft.set_permissions(fs::Permissions::from_mode(mode)))
            .and_then(|()| draft.sync_all());
        if written.is_err() {
            // The first error is the one to report.
            _ = fs::remove_file(&self.draft);
        }
        written
    }

    fn publish_draft(&self) -> io::Result<()> {
        fs::rename(&self.draft, &self.file)?;
        match File::open(&self.directory)?.sync_all() {
            // Some file systems cannot sync a directory; there the rename is as durable as it gets.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
            {
                Ok(())
            }
            synced => synced,
        }
    }
}

/// Identifies one state of a file.
#[derive(PartialEq, Eq)]
struct Generation {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Generation {
    fn of(metadata: &fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// An exclusive lock between processes. The holder removes the lock file, so none stays in a project.
struct FileLock {
    path: PathBuf,
    // Closing it releases the lock, after `drop` has removed the file.
    _file: File,
}

impl FileLock {
    fn acquire(target: &UpdateTarget) -> io::Result<Self> {
        let mode = match target.owner {
            Owner::User => 0o600,
            Owner::Shared => 0o666,
        };
        // Does not follow a link and does not block on a pipe.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(mode).custom_flags(flags);
        let deadline = Instant::now() + LOCK_TIMEOUT;
        let mut pause = Duration::from_millis(1);
        loop {
            let file = options.open(&target.lock)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &target.lock)? => {
                    return Ok(Self { path: target.lock.clone(), _file: file });
                }
                // The previous holder removed this file after we opened it: others lock its successor.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(LOCK_PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    let why = "another program has held the lock for two minutes; end it, then try again";
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A file that cannot be removed is locked again by the next change.
        _ = fs::remove_file(&self.path);
    }
}

/// Returns whether the path still names this file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    let there = if_found(fs::symlink_metadata(path))?;
    Ok(there.is_some_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u64 = 1024 * 1024;

    fn append(path: &Path, line: &str) -> Result<(), ConfigError> {
        update(path, Owner::User, MOST, |text| Ok((format!("{}{line}\n", text.unwrap_or_default()), ())))
    }

    #[test]
    fn s7_concurrent_changes_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/list");
        std::thread::scope(|scope| {
            for worker in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for edit in 0..25 {
                        append(path, &format!("{worker}-{edit}")).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 8 * 25);
        let left: Vec<_> =
            fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["list"], "neither a lock nor a draft stays");
    }

    #[test]
    fn s7_a_change_from_outside_the_lock_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        append(&path, "first").unwrap();
        let mut runs = 0;
        update(&path, Owner::User, MOST, |text| {
            runs += 1;
            if runs == 1 {
                // An editor saves while the change is made.
                fs::write(&path, "edited\n").unwrap();
            }
            Ok((format!("{}ours\n", text.unwrap_or_default()), ()))
        })
        .unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), runs), ("edited\nours\n", 2));
    }

    #[test]
    fn s7_a_link_stays_and_its_target_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "a\n").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        append(&link, "b").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "a\nb\n");
        let dangling = folder.path().join("dangling");
        std::os::unix::fs::symlink(folder.path().join("nowhere"), &dangling).unwrap();
        let error = append(&dangling, "c").unwrap_err().to_string();
        assert!(error.contains("symbolic link") && error.contains("nowhere"), "{error}");
        let lock = folder.path().join(".locked.lock");
        std::os::unix::fs::symlink(&target, &lock).unwrap();
        assert!(append(&folder.path().join("locked"), "d").is_err(), "a lock is never taken through a link");
    }

    #[test]
    fn s7_files_of_a_killed_process_do_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        fs::write(folder.path().join(".list.lock"), "").unwrap();
        fs::write(folder.path().join(".list.switchboard-draft"), "half").unwrap();
        append(&path, "a").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a\n");
    }
}
