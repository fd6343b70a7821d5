//! Process trees from /proc: the descendants of this process, and the orphans of a killed supervisor.
//!
//! Invariant: a pid is only signalled through a pidfd, after a second check that it is still the same process, because
//! pids are reused.

use std::collections::{HashMap, HashSet};
use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

/// Signals every descendant.
pub(crate) fn signal_descendants(signal: Signal) {
    let us = getpid().as_raw_nonzero().get();
    for (pid, parent) in descendants(us) {
        // If its parent has exited meanwhile, it was reparented to us.
        signal_if(pid, signal, |now| now.parent == parent || now.parent == us);
    }
}

/// Returns all descendants of a process, parents first, each with its parent.
fn descendants(root: i32) -> Vec<(i32, i32)> {
    let mut children = children_by_parent(&processes());
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

/// Fields of `/proc/<pid>/stat`.
#[derive(Debug, Clone, Copy)]
struct Stat {
    is_dead: bool,
    is_stopped: bool,
    parent: i32,
    group: i32,
    session: i32,
    /// Start time in clock ticks since boot.
    start: u64,
}

fn stat(pid: i32) -> Option<Stat> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may contain anything, so the fields begin after the last one.
    let after = stat.iter().rposition(|&byte| byte == b')')?;
    let mut fields = std::str::from_utf8(&stat[after + 1..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    let (is_dead, is_stopped) = (matches!(state, "Z" | "X"), matches!(state, "T" | "t"));
    let mut number = || fields.next()?.parse().ok();
    let (parent, group, session) = (number()?, number()?, number()?);
    let start = fields.nth(15)?.parse().ok()?;
    Some(Stat { is_dead, is_stopped, parent, group, session, start })
}

/// Returns all processes.
fn processes() -> HashMap<i32, Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(|pid| Some((pid, stat(pid)?))).collect()
}

fn children_by_parent(all: &HashMap<i32, Stat>) -> HashMap<i32, Vec<i32>> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for (&pid, stat) in all {
        children.entry(stat.parent).or_default().push(pid);
    }
    children
}

/// A process, identified by its pid and its start time, so that a reused pid is not mistaken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessIdentity {
    pub(crate) pid: Pid,
    start: u64,
}

/// Returns the oldest child of a process. Of a supervisor that is the server; all others are orphans of the server.
pub(crate) fn oldest_child(parent: Pid) -> Option<ProcessIdentity> {
    let id = parent.as_raw_nonzero().get();
    let children: Vec<i32> = match fs::read_to_string(format!("/proc/{id}/task/{id}/children")) {
        Ok(listed) => listed.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect(),
        // Not every kernel lists children.
        Err(_) => processes().into_iter().filter(|(_, stat)| stat.parent == id).map(|(pid, _)| pid).collect(),
    };
    let known = children.into_iter().filter_map(|pid| Some((stat(pid)?, Pid::from_raw(pid)?)));
    let oldest = known
        .filter(|(stat, _)| stat.parent == id)
        .min_by_key(|(stat, pid)| (stat.start, pid.as_raw_nonzero()));
    oldest.map(|(stat, pid)| ProcessIdentity { pid, start: stat.start })
}

/// Kills the orphans of a killed supervisor: everything in its session or in the server's group, with all descendants.
/// The supervisor must not be reaped yet, so that its session id cannot have been reused.
///
/// All of them are stopped before the first is killed: a process that is killed between two forks would leave a child that
/// nothing connects with the supervisor any more.
pub(crate) fn kill_orphans(supervisor: Pid, server: Option<ProcessIdentity>) {
    let mut stopped: HashSet<(i32, u64)> = HashSet::new();
    // Stopped processes do not fork, so the rounds come to an end; the bound is a safeguard.
    for _ in 0..100 {
        let found = orphans(supervisor, server);
        let is_settled = |(pid, stat): &(i32, Stat)| stat.is_stopped && stopped.contains(&(*pid, stat.start));
        if found.iter().all(is_settled) {
            break;
        }
        for (pid, stat) in found {
            signal_if(pid, Signal::STOP, |now| now.start == stat.start);
            stopped.insert((pid, stat.start));
        }
        std::thread::yield_now();
    }
    for (pid, start) in stopped {
        signal_if(pid, Signal::KILL, |now| now.start == start);
    }
}

fn orphans(supervisor: Pid, server: Option<ProcessIdentity>) -> Vec<(i32, Stat)> {
    let all = processes();
    let session = supervisor.as_raw_nonzero().get();
    // The id of a group may be reused after its last member has exited.
    let group = server.map(|server| (server.pid.as_raw_nonzero().get(), server.start));
    let group = group.filter(|(pid, start)| all.get(pid).is_none_or(|leader| leader.start == *start));
    let is_root = |stat: &Stat| stat.session == session || group.is_some_and(|(pid, _)| stat.group == pid);
    let mut children = children_by_parent(&all);
    let mut next: Vec<i32> = all.iter().filter(|(_, stat)| is_root(stat)).map(|(&pid, _)| pid).collect();
    let mut found = HashMap::new();
    while let Some(pid) = next.pop() {
        let Some(stat) = all.get(&pid) else { continue };
        if found.insert(pid, stat).is_none() {
            next.extend(children.remove(&pid).unwrap_or_default());
        }
    }
    let alive = found.into_iter().filter(|(pid, stat)| !stat.is_dead && *pid != session);
    alive.map(|(pid, stat)| (pid, *stat)).collect()
}

/// Signals a process if it is still the same.
fn signal_if(pid: i32, signal: Signal, is_same: impl FnOnce(Stat) -> bool) {
    let Some(target) = Pid::from_raw(pid) else { return };
    let Ok(pidfd) = pidfd_open(target, PidfdFlags::empty()) else { return };
    if stat(pid).is_some_and(is_same) {
        let _ = pidfd_send_signal(&pidfd, signal);
    }
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
