//! Which file a program name means, and what to call it when there is none.

use std::ffi::OsStr;
use std::fs::{Metadata, metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{getegid, geteuid, getgroups};
use switchboard_session::link::{NotStarted, StartFault};

use crate::stdio::command::ChildCommand;

/// Where the system looks without a `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The file to execute, looked for the way a shell in the server's own environment and directory would.
pub(crate) fn resolve(command: &ChildCommand, path: Option<&OsStr>) -> Result<PathBuf, NotStarted> {
    let base = base(command)?;
    let program = command.program();
    let places: Vec<PathBuf> = if program.as_bytes().contains(&b'/') {
        vec![base.clone()]
    } else {
        // An empty entry means the working directory, which joining gives.
        std::env::split_paths(path.unwrap_or(OsStr::new(DEFAULT_PATH)))
            .map(|entry| base.join(entry))
            .collect()
    };
    let (mut refused, mut doubtful) = (None, None);
    if !program.is_empty() {
        for place in &places {
            let file = place.join(program);
            match look_at(&file) {
                Ok(Found::Executable) => return Ok(file),
                Ok(Found::Doubtful) => doubtful = doubtful.or(Some(file)),
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(errno) => refused = refused.or(Some((file, errno))),
            }
        }
    }
    // Nothing better was found, and the system knows more than the bits of a file say.
    if let Some(file) = doubtful {
        return Ok(file);
    }
    let name = program.to_string_lossy();
    let searched = places.iter().map(|place| place.display().to_string()).collect();
    Err(match refused {
        Some((file, errno)) => NotStarted::new(file.display().to_string(), StartFault::NotExecutable)
            .with_source(errno.into())
            .with_searched(searched),
        None => NotStarted::new(name, StartFault::NotFound).with_searched(searched),
    })
}

/// The directory the server starts in, as an absolute path.
fn base(command: &ChildCommand) -> Result<PathBuf, NotStarted> {
    let bad = |shown: &Path, error: io::Error| {
        NotStarted::new(command.program().to_string_lossy(), StartFault::BadDirectory)
            .with_searched(vec![shown.display().to_string()])
            .with_source(error)
    };
    let ours = || std::env::current_dir().map_err(|error| bad(Path::new("."), error));
    let Some(directory) = command.directory() else { return ours() };
    let directory = if directory.is_absolute() { directory.to_owned() } else { ours()?.join(directory) };
    let entered = metadata(&directory).and_then(|found| {
        if !found.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        // Only who may enter it can look at what is inside, itself included.
        metadata(directory.join("."))
    });
    entered.map(|_| directory.clone()).map_err(|error| bad(&directory, error))
}

/// A file that may be executed.
enum Found {
    /// By its bits, by us.
    Executable,
    /// By its bits, by somebody else. An access list may say otherwise.
    Doubtful,
}

fn look_at(file: &Path) -> Result<Found, Errno> {
    let found = metadata(file).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::ACCESS))?;
    if !found.is_file() || found.mode() & 0o111 == 0 {
        return Err(Errno::ACCESS);
    }
    Ok(if is_for_us(&found) { Found::Executable } else { Found::Doubtful })
}

/// Whether the bits of a file let this process execute it; some of them let somebody.
fn is_for_us(file: &Metadata) -> bool {
    let mut groups: Vec<u32> = getgroups().unwrap_or_default().iter().map(|group| group.as_raw()).collect();
    groups.push(getegid().as_raw());
    file.mode() & bits_for(geteuid().as_raw(), &groups, (file.uid(), file.gid())) != 0
}

/// Which bits of a file with this owner and group say whether a user may execute it.
fn bits_for(user: u32, groups: &[u32], (owner, group): (u32, u32)) -> u32 {
    match user {
        0 => 0o111,
        _ if user == owner => 0o100,
        _ if groups.contains(&group) => 0o010,
        _ => 0o001,
    }
}

/// What the system's refusal to execute a resolved file means.
pub(crate) fn refused(file: &Path, error: io::Error) -> NotStarted {
    let errno = Errno::from_io_error(&error);
    let fault = match errno {
        Some(Errno::MFILE | Errno::NFILE | Errno::AGAIN | Errno::NOMEM) => StartFault::OutOfResources,
        Some(Errno::ACCESS | Errno::PERM | Errno::NOEXEC | Errno::NOENT | Errno::LIBBAD) => {
            StartFault::NotExecutable
        }
        _ => StartFault::Other,
    };
    let source = match errno {
        // The file is there, so what is missing is what its first line names.
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
    NotStarted::new(file.display().to_string(), fault).with_source(source)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_bits_decide_who_may_execute() {
        for (user, groups, bits) in
            [(0, [9], 0o111), (1, [9], 0o100), (1, [2], 0o100), (3, [2], 0o010), (3, [9], 0o001)]
        {
            assert_eq!(bits_for(user, &groups, (1, 2)), bits, "{user} {groups:?}");
        }
    }

    #[test]
    fn what_nobody_may_execute_is_passed_over() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str, mode| {
            let place = dir.path().join(name);
            std::fs::create_dir(&place).unwrap();
            std::fs::write(place.join("tool"), "#!/bin/sh\n").unwrap();
            std::fs::set_permissions(place.join("tool"), std::fs::Permissions::from_mode(mode)).unwrap();
            place
        };
        let (text, program) = (place("text", 0o644), place("program", 0o755));
        let path = std::env::join_paths([&dir.path().join("none"), &text, &program]).unwrap();
        assert_eq!(resolve(&ChildCommand::new("tool"), Some(&path)).unwrap(), program.join("tool"));
        let refused = resolve(&ChildCommand::new("tool"), Some(text.as_os_str())).unwrap_err();
        assert_eq!((refused.fault, refused.searched.len()), (StartFault::NotExecutable, 1));
    }
}
