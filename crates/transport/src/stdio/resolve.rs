//! Resolves a program name to a file, and explains why a program cannot be started.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;
use switchboard_session::link::{StartError, StartErrorKind};

use crate::stdio::command::Stdio;

/// The search path without `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Returns the file to execute, searched like a shell in the server's environment and directory would.
pub(crate) fn resolve(command: &Stdio, path: Option<&OsStr>) -> Result<PathBuf, StartError> {
    let working_directory = working_directory(command)?;
    let program = command.program();
    let candidates: Vec<PathBuf> = if program.as_bytes().contains(&b'/') {
        vec![working_directory.clone()]
    } else {
        // An empty entry means the working directory, which joining gives.
        std::env::split_paths(path.unwrap_or(OsStr::new(DEFAULT_PATH)))
            .map(|entry| working_directory.join(entry))
            .collect()
    };
    let mut refused = None;
    if !program.is_empty() {
        for candidate in &candidates {
            let file = candidate.join(program);
            match check_executable(&file) {
                Ok(()) => return Ok(file),
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(errno) => refused = refused.or(Some((file, errno))),
            }
        }
    }
    let name = program.to_string_lossy();
    let searched: Vec<_> = candidates.iter().map(|candidate| candidate.display().to_string()).collect();
    tracing::debug!(program = &*name, ?searched, "program not found or not executable");
    Err(match refused {
        Some((file, Errno::ISDIR)) => StartError::new(file.display().to_string(), StartErrorKind::Directory),
        Some((file, errno)) => StartError::new(file.display().to_string(), StartErrorKind::NotExecutable)
            .with_source(errno.into())
            .with_searched(searched),
        None => StartError::new(name, StartErrorKind::NotFound).with_searched(searched),
    })
}

/// Returns the absolute working directory of the server.
fn working_directory(command: &Stdio) -> Result<PathBuf, StartError> {
    let bad = |shown: &Path, error: io::Error| {
        StartError::new(command.program().to_string_lossy(), StartErrorKind::BadDirectory)
            .with_searched(vec![shown.display().to_string()])
            .with_source(error)
    };
    let ours = || std::env::current_dir().map_err(|error| bad(Path::new("."), error));
    let Some(directory) = command.directory() else { return ours() };
    let directory = if directory.is_absolute() { directory.to_owned() } else { ours()?.join(directory) };
    let entered = std::fs::metadata(&directory).and_then(|found| {
        if !found.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        access(&directory, Access::EXEC_OK).map_err(Into::into)
    });
    entered.map(|()| directory.clone()).map_err(|error| bad(&directory, error))
}

fn check_executable(file: &Path) -> Result<(), Errno> {
    let stat = rustix::fs::stat(file)?;
    match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
        kind if kind.is_file() => {}
        kind if kind.is_dir() => return Err(Errno::ISDIR),
        _ => return Err(Errno::ACCESS),
    }
    access(file, Access::EXEC_OK)
}

/// Maps the OS error of executing a resolved file.
pub(crate) fn start_error(file: &Path, error: io::Error) -> StartError {
    let errno = Errno::from_io_error(&error);
    let fault = match errno {
        Some(Errno::MFILE | Errno::NFILE | Errno::AGAIN | Errno::NOMEM) => StartErrorKind::OutOfResources,
        Some(Errno::ACCESS | Errno::PERM | Errno::NOEXEC | Errno::NOENT | Errno::LIBBAD) => {
            StartErrorKind::NotExecutable
        }
        _ => StartErrorKind::Other,
    };
    let source = match errno {
        // The file exists, so its interpreter or loader is missing.
        Some(Errno::NOENT) => io::Error::new(
            io::ErrorKind::NotFound,
            "the interpreter its first line names, or its loader, was not found",
        ),
        Some(Errno::NOEXEC) => io::Error::new(
            io::ErrorKind::InvalidData,
            "neither a program for this machine nor a script with a #! line",
        ),
        _ => error,
    };
    StartError::new(file.display().to_string(), fault).with_source(source)
}
