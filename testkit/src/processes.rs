//! Processes of the machine, as `/proc` and pidfds show them.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::wait::{STEP_TIMEOUT, wait_until};

/// Returns a number of seconds that no other process sleeps for, by which a test finds its sleepers.
pub fn unique_seconds() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}{:04}", 10_000_000 + std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Returns the processes that have this argument.
pub fn processes_with_argument(argument: &str) -> Vec<u32> {
    let has_argument = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).any(|word| word == argument.as_bytes())
    };
    pids().filter(has_argument).collect()
}

/// Waits until exactly so many processes have this argument.
pub async fn wait_for_processes(argument: &str, count: usize) {
    let what = format!("{count} processes with the argument {argument}");
    wait_until(what, || processes_with_argument(argument).len() == count).await;
}

/// Returns whether a process runs; a zombie does not.
pub fn is_running(pid: u32) -> bool {
    stat(pid).is_some_and(|stat| !stat.contains(") Z "))
}

/// Waits until a process has exited; it may be a zombie.
pub async fn wait_for_exit(pid: u32) {
    wait_until(format!("the exit of process {pid}"), || !is_running(pid)).await;
}

/// Waits until a process has exited and its parent has reaped it.
pub async fn wait_for_reaping(pid: u32) {
    wait_until(format!("the end of process {pid}"), || !Path::new(&format!("/proc/{pid}")).exists()).await;
}

/// Blocks until a process exits; returns whether it did so in time.
pub fn exits_in_time(pid: Pid) -> bool {
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let timeout = Timespec::try_from(STEP_TIMEOUT).unwrap();
    poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout)).unwrap() == 1
}

/// Returns the number of our children, including zombies.
pub fn child_count() -> usize {
    let us = std::process::id().to_string();
    let is_child = |pid: &u32| {
        let stat = stat(*pid).unwrap_or_default();
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1));
        parent == Some(us.as_str())
    };
    pids().filter(is_child).count()
}

/// Returns the number of descriptors that we have open.
pub fn descriptor_count() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Returns a figure of our memory in KiB: `VmRSS` now, `VmHWM` at its peak.
pub fn memory_kib(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let figure =
        |line: &str| line.strip_prefix(field)?.strip_prefix(':')?.trim().strip_suffix(" kB")?.parse().ok();
    status.lines().find_map(figure).unwrap_or_else(|| panic!("{field} is not in /proc/self/status"))
}

fn pids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn stat(pid: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/stat")).ok()
}
