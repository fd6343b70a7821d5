//! The descendants of this process, found in /proc.
//!
//! Invariant: a number found there is only signalled through a pidfd, after a second look has shown that it is still
//! the descendant it was: numbers are used again.

use std::collections::HashMap;
use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

/// Signals every descendant.
pub(crate) fn signal_descendants(signal: Signal) {
    let us = getpid().as_raw_nonzero().get();
    for (pid, parent) in descendants(us) {
        let Some(target) = Pid::from_raw(pid) else { continue };
        let Ok(pidfd) = pidfd_open(target, PidfdFlags::empty()) else { continue };
        // A parent that ended meanwhile has left it to us.
        if parent_of(pid).is_some_and(|now| now == parent || now == us) {
            let _ = pidfd_send_signal(&pidfd, signal);
        }
    }
}

/// All descendants of a process, parents first, each with its parent.
fn descendants(root: i32) -> Vec<(i32, i32)> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    for entry in entries.flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let Some(pid) = pid
            && let Some(parent) = parent_of(pid)
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(parent) = next.pop() {
        for pid in children.remove(&parent).unwrap_or_default() {
            found.push((pid, parent));
            next.push(pid);
        }
    }
    found
}

/// The parent of a process, as the system has it now.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, so what counts begins behind the last one.
    let after = stat.iter().rposition(|&byte| byte == b')')?;
    std::str::from_utf8(&stat[after + 1..]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_grandchild_with_an_awkward_name() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "exec 3>&1; (exec sleep 60) & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
            .unwrap();
        let grandchild: i32 = line.trim().parse().unwrap();
        let id = child.id().cast_signed();
        let found = descendants(getpid().as_raw_nonzero().get());
        assert!(found.contains(&(grandchild, id)), "{found:?}");
        rustix::process::kill_process(Pid::from_raw(grandchild).unwrap(), Signal::KILL).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
