//! The processes of servers that run now, as the system lists them.
//!
//! Every server a switchboard program starts has a supervisor, a process that says so in its arguments. Nothing is kept
//! in a file, so nothing can be out of date: a process that is not there is not shown, and one whose number was used
//! again has other arguments.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// How a supervisor is called, and its first argument.
const NAME: &str = "switchboard-shim";
const MARKER: &str = "--switchboard-shim";
/// Its arguments before the file of the server: host, ticket, time and three limits.
const BEFORE_FILE: usize = 6;

/// A server process.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Process {
    /// The server itself; none while it starts or ends.
    pub(crate) pid: Option<u32>,
    /// Who looks after it.
    pub(crate) supervisor: u32,
    /// The program that started it.
    pub(crate) host: u32,
    /// How long it has run.
    pub(crate) uptime: Option<Duration>,
    /// The program as it was asked for.
    pub(crate) program: String,
    /// Its arguments; they may hold secrets.
    pub(crate) args: Vec<String>,
}

/// The servers this user runs, oldest first.
pub(crate) fn running() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let user = rustix::process::getuid().as_raw();
    let pids = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        (entry.metadata().ok()?.uid() == user).then_some(pid)
    });
    let mut found: Vec<Process> = pids.filter_map(look).collect();
    found.sort_by_key(|process| (std::cmp::Reverse(process.uptime), process.supervisor));
    found
}

fn look(supervisor: u32) -> Option<Process> {
    let at = format!("/proc/{supervisor}");
    let (host, program, args) = duty(&fs::read(format!("{at}/cmdline")).ok()?)?;
    let children = fs::read_to_string(format!("{at}/task/{supervisor}/children")).unwrap_or_default();
    let pid = children.split_whitespace().next().and_then(|pid| pid.parse().ok());
    Some(Process { pid, supervisor, host, uptime: uptime(Path::new(&at)), program, args })
}

/// What a supervisor's arguments say: who started the server, its program and its arguments.
fn duty(command_line: &[u8]) -> Option<(u32, String, Vec<String>)> {
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

/// How long a process has run.
fn uptime(at: &Path) -> Option<Duration> {
    /// What the kernel counts a second in, for programs, on every Linux.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string(at.join("stat")).ok()?;
    // The name stands in parentheses and may hold anything, so fields are counted from behind it.
    let ticks: f64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let since_boot: f64 = fs::read_to_string("/proc/uptime").ok()?.split_whitespace().next()?.parse().ok()?;
    Duration::try_from_secs_f64(since_boot - ticks / TICKS).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A command line as the system gives it: each word with a zero behind it.
    fn line(words: &[&str]) -> Vec<u8> {
        words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect()
    }

    #[test]
    fn a_supervisor_says_whom_it_looks_after() {
        let before = [NAME, MARKER, "12", "12-0", "1000", "-", "-", "-", "/usr/bin/npx"];
        let whole = [&before[..], &["npx", "-y", ""]].concat();
        assert_eq!(duty(&line(&whole)), Some((12, "npx".to_owned(), vec!["-y".to_owned(), String::new()])));
        for other in [&["npx", MARKER, "12"][..], &[NAME, MARKER, "12", "x"], &before, &[], &[""]] {
            assert_eq!(duty(&line(other)), None);
        }
    }

    #[test]
    fn our_own_uptime_is_known() {
        assert!(uptime(Path::new("/proc/self")).is_some());
    }
}
