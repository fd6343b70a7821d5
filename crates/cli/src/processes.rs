//! The running server processes, read from `/proc`.
//!
//! Every server that a switchboard program starts has a supervisor process, recognized by its arguments. Nothing is
//! stored in a file, so nothing can be out of date: a process that has exited is not listed, and one that reuses its
//! number has other arguments.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Name and first argument of a supervisor.
const NAME: &str = "switchboard-shim";
const MARKER: &str = "--switchboard-shim";
/// Number of its arguments before the server's file: host, ticket, time and three limits.
const BEFORE_FILE: usize = 6;

/// A server process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ServerProcess {
    /// Process id of the server; `None` while it starts or ends.
    pub(crate) pid: Option<u32>,
    /// Process id of the supervisor.
    pub(crate) supervisor: u32,
    /// Process id of the program that started it.
    pub(crate) host: u32,
    /// Time since it was started.
    pub(crate) uptime: Option<Duration>,
    /// Program, as configured.
    pub(crate) program: String,
    /// Arguments; they may contain secrets.
    pub(crate) args: Vec<String>,
}

/// Returns the server processes of this user, oldest first.
pub(crate) fn running_servers() -> Vec<ServerProcess> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let user = rustix::process::getuid().as_raw();
    let pids = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        (entry.metadata().ok()?.uid() == user).then_some(pid)
    });
    let mut processes: Vec<ServerProcess> = pids.filter_map(inspect).collect();
    processes.sort_by_key(|process| (std::cmp::Reverse(process.uptime), process.supervisor));
    processes
}

fn inspect(supervisor: u32) -> Option<ServerProcess> {
    let proc_dir = format!("/proc/{supervisor}");
    let (host, program, args) = parse_supervisor(&fs::read(format!("{proc_dir}/cmdline")).ok()?)?;
    let children = fs::read_to_string(format!("{proc_dir}/task/{supervisor}/children")).unwrap_or_default();
    let pid = children.split_whitespace().next().and_then(|pid| pid.parse().ok());
    Some(ServerProcess { pid, supervisor, host, uptime: uptime(Path::new(&proc_dir)), program, args })
}

/// Parses the command line of a supervisor: the host's process id, the server's program and its arguments.
fn parse_supervisor(command_line: &[u8]) -> Option<(u32, String, Vec<String>)> {
    let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
    let words: Vec<String> = command_line.strip_suffix(b"\0")?.split(|byte| *byte == 0).map(text).collect();
    let [name, marker, rest @ ..] = &words[..] else { return None };
    if name != NAME || marker != MARKER {
        return None;
    }
    let host = rest.first()?.parse().ok()?;
    let (program, args) = rest.get(BEFORE_FILE + 1..)?.split_first()?;
    Some((host, program.clone(), args.to_vec()))
}

/// Returns the time since a process was started.
fn uptime(proc_dir: &Path) -> Option<Duration> {
    /// Clock ticks per second for user space, on every Linux.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string(proc_dir.join("stat")).ok()?;
    // The name is in parentheses and may contain anything, so fields are counted after it.
    let ticks: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let since_boot: f64 = fs::read_to_string("/proc/uptime").ok()?.split_whitespace().next()?.parse().ok()?;
    Duration::try_from_secs_f64(since_boot - ticks / TICKS).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes a command line as in `/proc`: each word is followed by a zero byte.
    fn line(words: &[&str]) -> Vec<u8> {
        words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect()
    }

    #[test]
    fn a_supervisor_command_line_is_parsed() {
        let before = [NAME, MARKER, "12", "12-0", "1000", "-", "-", "-", "/usr/bin/npx"];
        let whole = [&before[..], &["npx", "-y", ""]].concat();
        assert_eq!(
            parse_supervisor(&line(&whole)),
            Some((12, "npx".to_owned(), vec!["-y".to_owned(), String::new()]))
        );
        for other in [&["npx", MARKER, "12"][..], &[NAME, MARKER, "12", "x"], &before, &[], &[""]] {
            assert_eq!(parse_supervisor(&line(other)), None);
        }
    }

    #[test]
    fn our_own_uptime_is_known() {
        assert!(uptime(Path::new("/proc/self")).is_some());
    }
}
