//! Reads files with a size limit. Files are changed by [`update`](crate::update::update) only.
//!
//! Invariant: a file that others could have written is not read where it must be the user's own.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::fault::{Fault, Problem};

/// No configuration is larger.
pub(crate) const LARGEST: u64 = 1024 * 1024;
/// Claude Code keeps its history beside its servers, so what is imported may be large.
pub(crate) const LARGEST_FOREIGN: u64 = 64 * 1024 * 1024;

/// Whose a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The user's alone: nobody else may have written it, and nobody else may read what we write.
    User,
    /// Shared with others, such as a project's file.
    Shared,
}

/// Reads the text of a file of at most `most` bytes; `None` if there is no file.
///
/// # Errors
/// When it cannot be read, is no regular file, is too large or not UTF-8, or others could have written a user's own file.
pub fn read(path: &Path, owner: Owner, most: u64) -> Result<Option<String>, Fault> {
    Ok(read_with_metadata(path, owner, most)?.map(|(text, _)| text))
}

/// The text of a file with the metadata of the descriptor it was read from.
pub(crate) fn read_with_metadata(
    path: &Path,
    owner: Owner,
    most: u64,
) -> Result<Option<(String, fs::Metadata)>, Fault> {
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
    Ok(Some((text, about)))
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

/// The fault of an operation on a file that failed; `doing` is what it was, like `read it`.
pub fn failed(path: &Path, doing: &'static str, error: &io::Error) -> Fault {
    let problem = Problem::File { doing, why: error.to_string(), kind: error.kind() };
    Fault::new("", problem).in_file(path)
}
