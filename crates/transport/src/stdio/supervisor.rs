//! The supervisor: this program, started again between the host and a server, so that no descendant of the server
//! outlives the server or the host, however either ends.
//!
//! ```text
//!   host ──▶ supervisor (session leader, subreaper) ──▶ server (own group) ──▶ whatever it starts
//!     └─ pidfd ◀─┘      TERM: ask, wait, kill all · KILL_NOW: kill all · host gone: as TERM, sooner
//!                       STOP_ALONE: wait for the end of its input to be heeded, then as TERM; the host may go
//! ```
//!
//! Invariants: the supervisor has one thread and no runtime; it handles signals before the server exists; it holds none of
//! the server's pipes, so that their end is seen; it exits like the server.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, io};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpid, getppid, kill_process_group,
    pidfd_open, set_child_subreaper, setrlimit, setsid, wait,
};
use switchboard_session::link::ServerExit;

use crate::stdio::{ChildLimits, Stdio, StopTimeouts, process_tree};

/// The first argument that requests supervisor mode.
const MARKER: &str = "--switchboard-shim";
/// The exit code of a supervisor that could not start its server.
const EXIT_NOT_STARTED: i32 = 127;
/// How long the supervisor tries to kill the remaining descendants.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// Upper bound of the SIGTERM timeout after the host has exited.
const ORPHANED_TERM: Duration = Duration::from_secs(1);
/// Interval between two rounds of killing.
const KILL_INTERVAL: Duration = Duration::from_millis(5);

/// Tells the supervisor to kill everything at once.
pub(crate) const KILL_NOW: Signal = Signal::USR2;
/// Tells the supervisor to stop the server in order by itself: its input has ended, and the host may end before it does.
pub(crate) const STOP_ALONE: Signal = Signal::USR1;

static AVAILABLE: OnceLock<()> = OnceLock::new();

/// Makes the supervisor available, or runs it if this process was started as one. Call it first in `main`, before
/// threads, a runtime or the parsing of arguments:
///
/// ```no_run
/// // fn main() {
/// switchboard::transport::stdio::run_supervisor_if_requested();
/// // … the program
/// ```
///
/// A program that calls it starts every server through a copy of itself, which ends the server and all its
/// descendants when they are to stop, and when the program itself ends in whatever way (`kill -9`, a crash).
/// A program that never calls it falls back to process groups: each server has its own, which is killed when its pipe is
/// closed or dropped. Descendants that leave the group then survive, and all of them if the program is
/// killed.
///
/// Does not return when this process was started as a supervisor.
pub fn run_supervisor_if_requested() {
    let mut args = env::args_os();
    if args.nth(1).is_some_and(|first| first == MARKER) {
        match SupervisorArgs::parse(args) {
            Some(args) => run_supervisor(&args),
            None => process::exit(EXIT_NOT_STARTED),
        }
    }
    AVAILABLE.get_or_init(|| ());
}

pub(crate) fn is_available() -> bool {
    AVAILABLE.get().is_some()
}

/// Identifies the start failure message of a supervisor within the stderr of its server.
#[derive(Debug)]
pub(crate) struct StartToken(String);

impl StartToken {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Self(format!("{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Returns why the server was not started, if the supervisor reported that.
    pub(crate) fn start_error(&self, exit: &ServerExit) -> Option<io::Error> {
        if exit.code != Some(EXIT_NOT_STARTED) {
            return None;
        }
        let said = exit.stderr_tail.lines().find_map(|line| line.strip_prefix(&self.line_prefix()))?;
        said.trim().parse().ok().map(io::Error::from_raw_os_error)
    }

    fn line_prefix(&self) -> String {
        format!("switchboard shim {}: the server was not started: error ", self.0)
    }
}

/// Returns the command that starts a server through the supervisor.
pub(crate) fn command(command: &Stdio, file: &Path, token: &StartToken) -> tokio::process::Command {
    // Not the path of the program: the file may have been replaced or removed since.
    let mut shim = tokio::process::Command::new("/proc/self/exe");
    shim.arg0("switchboard-shim").arg(MARKER);
    let StopTimeouts { eof, term, .. } = command.stop_timeouts;
    shim.arg(process::id().to_string()).arg(&token.0);
    shim.arg(format!("{}+{}", eof.as_millis(), term.as_millis()));
    let ChildLimits { open_files, processes, address_space } = command.limits;
    for limit in [open_files, processes, address_space] {
        shim.arg(limit.map_or_else(|| "-".into(), |limit| limit.to_string()));
    }
    shim.arg(file).arg(command.program()).args(&command.args);
    shim
}

/// Returns the limits as resources. Core files are disabled, because they may contain secrets.
pub(crate) fn resources(limits: &ChildLimits) -> impl Iterator<Item = (Resource, u64)> + use<> {
    let set = [
        (Resource::Core, Some(0)),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, limits.processes),
        (Resource::As, limits.address_space),
    ];
    set.into_iter().filter_map(|(resource, most)| Some((resource, most?)))
}

/// The command line of a supervisor.
struct SupervisorArgs {
    host: Pid,
    token: StartToken,
    /// From the end of the server's input to SIGTERM, if the host has detached.
    eof: Duration,
    /// From SIGTERM to killing it.
    term: Duration,
    limits: ChildLimits,
    file: OsString,
    name: OsString,
    args: Vec<OsString>,
}

impl SupervisorArgs {
    fn parse(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut text = || args.next()?.into_string().ok();
        let host = Pid::from_raw(text()?.parse().ok()?)?;
        let token = StartToken(text()?);
        let stop_timeouts = text()?;
        let (eof, term) = stop_timeouts.split_once('+')?;
        let [eof, term] = [eof.parse().ok()?, term.parse().ok()?].map(Duration::from_millis);
        let limits = ChildLimits {
            open_files: text()?.parse().ok(),
            processes: text()?.parse().ok(),
            address_space: text()?.parse().ok(),
        };
        Some(Self {
            host,
            token,
            eof,
            term,
            limits,
            file: args.next()?,
            name: args.next()?,
            args: args.collect(),
        })
    }
}

fn run_supervisor(args: &SupervisorArgs) -> ! {
    let mut sources = match EventSources::set_up(args) {
        Ok(sources) => sources,
        Err(error) => report_start_failure(args, &error),
    };
    // Reparented: the host has exited before it could be watched.
    if getppid() != Some(args.host) {
        process::exit(0);
    }
    let mut server = process::Command::new(&args.file);
    server.arg0(&args.name).args(&args.args).process_group(0);
    let server = match server.spawn() {
        Ok(child) => child.id(),
        Err(error) => report_start_failure(args, &error),
    };
    let server = Pid::from_raw(server.cast_signed()).expect("a process has a number above zero");
    release_stdio();
    let ended = match sources.wait_for_end(server, args) {
        Some(status) => Some(status),
        None => kill_descendants(server),
    };
    if let Some(status) = ended {
        kill_descendants(server);
        exit_like(status);
    }
    process::exit(EXIT_NOT_STARTED - 1);
}

fn report_start_failure(args: &SupervisorArgs, error: &io::Error) -> ! {
    eprintln!("{}{}", args.token.line_prefix(), error.raw_os_error().unwrap_or(0));
    process::exit(EXIT_NOT_STARTED);
}

/// Closes our copies of the server's pipes.
fn release_stdio() {
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

/// The descriptors that the supervisor polls.
struct EventSources {
    host: OwnedFd,
    /// Readable when asked to stop.
    stop: OwnedFd,
    /// Readable when all processes must be killed at once.
    kill: OwnedFd,
    /// Readable when the server must be stopped without the host.
    stop_alone: OwnedFd,
    /// Readable when a child has ended.
    child: OwnedFd,
}

impl EventSources {
    fn set_up(args: &SupervisorArgs) -> io::Result<Self> {
        // Fails if it is a session leader already.
        let _ = setsid();
        set_child_subreaper(Some(getpid()))?;
        for (resource, most) in resources(&args.limits) {
            setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
        }
        // Descriptors that the host did not mark close-on-exec must not reach the server.
        close_fds::set_fds_cloexec(3, &[]);
        let stop = signal_pipe(&[Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT])?;
        let kill = signal_pipe(&[KILL_NOW])?;
        let stop_alone = signal_pipe(&[STOP_ALONE])?;
        let child = signal_pipe(&[Signal::CHILD])?;
        let host = pidfd_open(args.host, PidfdFlags::empty())?;
        Ok(Self { host, stop, kill, stop_alone, child })
    }

    /// Waits until the server has exited (its status) or must be killed (`None`).
    fn wait_for_end(&mut self, server: Pid, args: &SupervisorArgs) -> Option<WaitStatus> {
        let mut stage = ShutdownStage::Serving;
        loop {
            if let Some(status) = reap(server) {
                return Some(status);
            }
            let left = stage.deadline().map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                match stage {
                    ShutdownStage::AwaitingExit(_) => stage = ShutdownStage::stop(server, args.term),
                    _ => return None,
                }
                continue;
            }
            let events = self.wait(left);
            if events.kill {
                return None;
            }
            stage = match stage {
                // Checked first: it may arrive together with STOP_ALONE and must not be lost.
                ShutdownStage::Serving | ShutdownStage::AwaitingExit(_) if events.stop => {
                    ShutdownStage::stop(server, args.term)
                }
                // Checked before the exit of the host, which follows it.
                ShutdownStage::Serving if events.stop_alone => {
                    ShutdownStage::AwaitingExit(Instant::now() + args.eof)
                }
                ShutdownStage::Serving if events.host_exited => {
                    ShutdownStage::stop(server, args.term.min(ORPHANED_TERM))
                }
                same => same,
            };
        }
    }

    /// Waits for events.
    fn wait(&mut self, most: Option<Duration>) -> ReceivedEvents {
        let all = [&self.host, &self.stop, &self.kill, &self.stop_alone, &self.child];
        let mut fds = all.map(|fd| PollFd::new(fd, PollFlags::IN));
        // With a deadline set, the exit of the host no longer matters; it would only wake the poll.
        let watched = if most.is_some() { &mut fds[1..] } else { &mut fds[..] };
        let _ = poll(watched, most.map(timespec).as_ref());
        let host_exited = !fds[0].revents().is_empty();
        // Reads instead of using `revents`: a signal interrupts the poll, which then reports nothing.
        let [stop, kill, stop_alone, _] = [&self.stop, &self.kill, &self.stop_alone, &self.child]
            .map(|fd| rustix::io::read(fd, &mut [0; 64]).is_ok_and(|read| read > 0));
        ReceivedEvents { host_exited, stop, kill, stop_alone }
    }
}

/// The events that the supervisor has received.
struct ReceivedEvents {
    host_exited: bool,
    stop: bool,
    kill: bool,
    stop_alone: bool,
}

/// The shutdown stage of a server.
#[derive(Clone, Copy)]
enum ShutdownStage {
    Serving,
    /// Its input has ended; it may exit by itself until the deadline.
    AwaitingExit(Instant),
    /// SIGTERM was sent; it is killed at the deadline.
    Stopping(Instant),
}

impl ShutdownStage {
    /// Sends SIGTERM and sets the deadline.
    fn stop(server: Pid, within: Duration) -> Self {
        // Not reaped, so the pid is valid. A stopped process handles TERM after it continues.
        let _ = kill_process_group(server, Signal::TERM);
        let _ = kill_process_group(server, Signal::CONT);
        Self::Stopping(Instant::now() + within)
    }

    fn deadline(self) -> Option<Instant> {
        match self {
            Self::Serving => None,
            Self::AwaitingExit(until) | Self::Stopping(until) => Some(until),
        }
    }
}

/// Returns a descriptor that becomes readable when one of these signals arrives.
fn signal_pipe(signals: &[Signal]) -> io::Result<OwnedFd> {
    let (reading, writing) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    for signal in signals {
        signal_hook::low_level::pipe::register(signal.as_raw(), writing.try_clone()?)?;
    }
    Ok(reading)
}

/// Reaps all children that have exited. Returns the status of the server if it is among them.
fn reap(server: Pid) -> Option<WaitStatus> {
    let mut found = None;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if pid == server {
            found = Some(status);
        }
    }
    found
}

/// Kills all descendants until none is left or the time is up. Returns the status of the server if it was among them.
fn kill_descendants(server: Pid) -> Option<WaitStatus> {
    let start = Instant::now();
    let mut found = None;
    loop {
        found = reap(server).or(found);
        // Orphans are reparented to the subreaper, so without a child there is no descendant.
        if matches!(wait(WaitOptions::NOHANG), Err(rustix::io::Errno::CHILD))
            || start.elapsed() > KILL_TIMEOUT
        {
            return found;
        }
        // Stopped first, so that a forking tree cannot grow while it is killed.
        process_tree::signal_descendants(Signal::STOP);
        process_tree::signal_descendants(Signal::KILL);
        std::thread::sleep(KILL_INTERVAL);
    }
}

/// Exits with the status or the signal of the server.
fn exit_like(status: WaitStatus) -> ! {
    let status = process::ExitStatus::from_raw(status.as_raw());
    if let Some(signal) = status.signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        process::exit(128 + signal);
    }
    process::exit(status.code().unwrap_or(EXIT_NOT_STARTED - 1));
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs().cast_signed(), tv_nsec: duration.subsec_nanos().into() }
}
