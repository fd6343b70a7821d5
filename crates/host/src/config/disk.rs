//! Files on disk: read with a bound, written whole or not at all.
//!
//! Invariants: a file is replaced by renaming a finished one over it, so a reader sees the old text or the new; a file
//! that is ours alone is created with mode 0600, in directories of mode 0700; a file others could have written is not
//! read where it must be ours.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::config::fault::{Fault, Problem};

/// No configuration is larger.
pub(crate) const LARGEST: u64 = 1024 * 1024;
/// Claude Code keeps its history beside its servers, so what is imported may be large.
pub(crate) const LARGEST_FOREIGN: u64 = 64 * 1024 * 1024;

/// Whose a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The user's alone: nobody else may have written it, and nobody else may read what we write.
    User,
    /// Shared with others, such as a project's file.
    Shared,
}

/// The text of a file; none if there is no file.
pub(crate) fn read(path: &Path, owner: Owner, most: u64) -> Result<Option<String>, Fault> {
    let fault = |error: &io::Error| failed(path, "read it", error);
    // Without blocking: what stands there may be a pipe.
    let file =
        OpenOptions::new().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(path);
    let file = match file {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault(&error)),
    };
    let about = file.metadata().map_err(|error| fault(&error))?;
    if !about.is_file() {
        return Err(failed(path, "read it", &io::Error::other("it is not a file")));
    }
    if owner == Owner::User {
        guarded(path, &about)?;
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| fault(&error))?;
    if bytes.len() as u64 > most {
        return Err(Fault::new("", Problem::TooLarge { most }).in_file(path));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let what = format!("byte {} is not UTF-8; save the file as UTF-8", error.utf8_error().valid_up_to());
        Fault::new("", Problem::Syntax { what }).in_file(path)
    })?;
    Ok(Some(text))
}

/// As ssh has it: a file that others can write says nothing about its owner's wishes.
fn guarded(path: &Path, about: &fs::Metadata) -> Result<(), Fault> {
    let us = rustix::process::geteuid().as_raw();
    let exposed = |what, remedy| Err(Fault::new("", Problem::Exposed { what, remedy }).in_file(path));
    if about.uid() != us && about.uid() != 0 {
        exposed("the file belongs to somebody else", format!("chown {us} {}", path.display()))
    } else if about.mode() & 0o022 != 0 {
        exposed("others may write the file", format!("chmod go-w {}", path.display()))
    } else {
        Ok(())
    }
}

/// Replaces a file, through a link if it is one.
pub(crate) fn write(path: &Path, owner: Owner, text: &str) -> Result<(), Fault> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    replace(&target, owner, text).map_err(|error| failed(path, "write it", &error))
}

fn replace(path: &Path, owner: Owner, text: &str) -> io::Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    create_directory(directory, owner)?;
    let name = path.file_name().ok_or_else(|| io::Error::other("the path has no file name"))?;
    let draft = directory.join(format!(
        ".{}.{}.{}.tmp",
        name.to_string_lossy(),
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    ));
    let mode = match (owner, fs::metadata(path)) {
        (Owner::User, _) => 0o600,
        (Owner::Shared, Ok(about)) => about.mode() & 0o777,
        (Owner::Shared, Err(_)) => 0o644,
    };
    let written =
        OpenOptions::new().write(true).create_new(true).mode(mode).open(&draft).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            // The mode asked for, whatever the umask.
            file.set_permissions(fs::Permissions::from_mode(mode))?;
            file.sync_all()?;
            fs::rename(&draft, path)
        });
    if written.is_err() {
        // What failed is told; a draft that cannot be removed either would only hide it.
        _ = fs::remove_file(&draft);
        return written;
    }
    // Not every file system lets a directory be synced; the text itself is safe.
    _ = File::open(directory).and_then(|directory| directory.sync_all());
    Ok(())
}

fn create_directory(directory: &Path, owner: Owner) -> io::Result<()> {
    let mode = match owner {
        Owner::User => 0o700,
        Owner::Shared => 0o755,
    };
    fs::DirBuilder::new().recursive(true).mode(mode).create(directory)
}

/// Held while a file of ours is read, changed and written, so that two programs do not undo each other's change.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for it. Only for files of ours: the lock is a file beside it.
    pub(crate) fn of(path: &Path) -> Result<Self, Fault> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let lock = PathBuf::from(name);
        let fault = |error: &io::Error| failed(&lock, "lock it", error);
        let directory = lock.parent().unwrap_or(Path::new("."));
        create_directory(directory, Owner::User).map_err(|error| fault(&error))?;
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&lock);
        let file = file.map_err(|error| fault(&error))?;
        file.lock().map_err(|error| fault(&error))?;
        Ok(Self { _file: file })
    }
}

fn failed(path: &Path, doing: &'static str, error: &io::Error) -> Fault {
    let problem = Problem::File { doing, why: error.to_string(), kind: error.kind() };
    Fault::new("", problem).in_file(path)
}
