//! The shim: a small copy of our own program that stands between us and a server, so that nothing the server starts
//! outlives it, or us, however either ends.
//!
//! ```text
//!   host ──▶ shim (session leader, subreaper) ──▶ server (own group) ──▶ whatever it starts
//!     └─ pidfd ◀─┘      TERM: ask, wait, kill all · KILL_NOW: kill all · host gone: as TERM, sooner
//!                       STOP_ALONE: wait for the end of its input to be heeded, then as TERM; the host may go
//! ```
//!
//! Invariants: the shim has one thread and no runtime; it handles signals before the server exists; it holds none of
//! the server's pipes, so their end is seen; it ends the way the server ended.

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
use switchboard_session::link::Exit;

use crate::stdio::command::{ChildLimits, Stdio};
use crate::stdio::ladder::StopLadder;
use crate::stdio::tree;

/// The first argument that makes a program a shim.
const MARKER: &str = "--switchboard-shim";
/// The exit code of a shim that could not start its server.
const NO_SERVER: i32 = 127;
/// How long the shim tries to kill what the server left.
const SLAY: Duration = Duration::from_secs(5);
/// How long a server may take to end once its host is gone, where nobody waits for it any more.
const ORPHANED: Duration = Duration::from_secs(1);
/// Between two looks at what is still there.
const LOOK: Duration = Duration::from_millis(5);

/// Tells the shim to kill everything at once.
pub(crate) const KILL_NOW: Signal = Signal::USR2;
/// Tells the shim to stop the server in order by itself: its input has ended, and the host may end before it does.
pub(crate) const STOP_ALONE: Signal = Signal::USR1;

static AVAILABLE: OnceLock<()> = OnceLock::new();

/// Makes the shim available, or becomes it. Call it first in `main`, before threads, a runtime or the parsing of
/// arguments:
///
/// ```no_run
/// // fn main() {
/// switchboard::transport::stdio::enter_if_asked();
/// // … the program
/// ```
///
/// A program that calls it starts every server through a copy of itself, which ends the server and all its
/// descendants when they are to stop, and when the program itself ends in whatever way (`kill -9`, a crash).
/// A program that never calls it still gets the second line: each server in a process group of its own, killed
/// when it is left or dropped. Descendants that leave the group then survive, and all of them if the program is
/// killed.
///
/// Does not return when this process was started as a shim.
pub fn enter_if_asked() {
    let mut args = env::args_os();
    if args.nth(1).is_some_and(|first| first == MARKER) {
        match Duty::parse(args) {
            Some(duty) => supervise(&duty),
            None => process::exit(NO_SERVER),
        }
    }
    AVAILABLE.get_or_init(|| ());
}

pub(crate) fn is_available() -> bool {
    AVAILABLE.get().is_some()
}

/// By what the host knows the words of its own shim among those of the server.
#[derive(Debug)]
pub(crate) struct Ticket(String);

impl Ticket {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Self(format!("{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
    }

    /// Why the server was not started, if that is what the shim said at its end.
    pub(crate) fn refusal(&self, exit: &Exit) -> Option<io::Error> {
        if exit.code != Some(NO_SERVER) {
            return None;
        }
        let said = exit.stderr_tail.lines().find_map(|line| line.strip_prefix(&self.words()))?;
        said.trim().parse().ok().map(io::Error::from_raw_os_error)
    }

    fn words(&self) -> String {
        format!("switchboard shim {}: the server was not started: error ", self.0)
    }
}

/// The command that starts a server through the shim.
pub(crate) fn command(command: &Stdio, file: &Path, ticket: &Ticket) -> tokio::process::Command {
    // Not the path we were started by: the file may have been replaced or removed since.
    let mut shim = tokio::process::Command::new("/proc/self/exe");
    shim.arg0("switchboard-shim").arg(MARKER);
    let StopLadder { eof, term, .. } = command.ladder();
    shim.arg(process::id().to_string()).arg(&ticket.0);
    shim.arg(format!("{}+{}", eof.as_millis(), term.as_millis()));
    let ChildLimits { open_files, processes, address_space } = command.limits;
    for limit in [open_files, processes, address_space] {
        shim.arg(limit.map_or_else(|| "-".into(), |limit| limit.to_string()));
    }
    shim.arg(file).arg(command.program()).args(&command.args);
    shim
}

/// The limits as the system names them. A core file of a server could hold anybody's secrets: there is none.
pub(crate) fn resources(limits: &ChildLimits) -> impl Iterator<Item = (Resource, u64)> + use<> {
    let set = [
        (Resource::Core, Some(0)),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, limits.processes),
        (Resource::As, limits.address_space),
    ];
    set.into_iter().filter_map(|(resource, most)| Some((resource, most?)))
}

/// What a shim is to do, as it stands in its arguments.
struct Duty {
    host: Pid,
    ticket: Ticket,
    /// From the end of its input until the server is asked to stop, where the host does not do that itself.
    eof: Duration,
    /// From being asked until it is killed.
    term: Duration,
    limits: ChildLimits,
    file: OsString,
    name: OsString,
    args: Vec<OsString>,
}

impl Duty {
    fn parse(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut text = || args.next()?.into_string().ok();
        let host = Pid::from_raw(text()?.parse().ok()?)?;
        let ticket = Ticket(text()?);
        let ladder = text()?;
        let (eof, term) = ladder.split_once('+')?;
        let [eof, term] = [eof.parse().ok()?, term.parse().ok()?].map(Duration::from_millis);
        let limits = ChildLimits {
            open_files: text()?.parse().ok(),
            processes: text()?.parse().ok(),
            address_space: text()?.parse().ok(),
        };
        Some(Self {
            host,
            ticket,
            eof,
            term,
            limits,
            file: args.next()?,
            name: args.next()?,
            args: args.collect(),
        })
    }
}

fn supervise(duty: &Duty) -> ! {
    let mut watch = match Watch::set_up(duty) {
        Ok(watch) => watch,
        Err(error) => fail(duty, &error),
    };
    // Not our parent any more: the host was gone before we could watch it.
    if getppid() != Some(duty.host) {
        process::exit(0);
    }
    let mut server = process::Command::new(&duty.file);
    server.arg0(&duty.name).args(&duty.args).process_group(0);
    let server = match server.spawn() {
        Ok(child) => child.id(),
        Err(error) => fail(duty, &error),
    };
    let server = Pid::from_raw(server.cast_signed()).expect("a process has a number above zero");
    leave_stdio();
    let ended = match watch.until_over(server, duty) {
        Some(status) => Some(status),
        None => slay(server),
    };
    if let Some(status) = ended {
        slay(server);
        end_like(status);
    }
    process::exit(NO_SERVER - 1);
}

fn fail(duty: &Duty, error: &io::Error) -> ! {
    eprintln!("{}{}", duty.ticket.words(), error.raw_os_error().unwrap_or(0));
    process::exit(NO_SERVER);
}

/// Lets go of the server's pipes.
fn leave_stdio() {
    if let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

/// What the shim listens to.
struct Watch {
    host: OwnedFd,
    /// Readable when asked to stop.
    stop: OwnedFd,
    /// Readable when told to kill at once.
    kill: OwnedFd,
    /// Readable when told to stop the server without the host.
    stop_alone: OwnedFd,
    /// Readable when a child has ended.
    child: OwnedFd,
}

impl Watch {
    fn set_up(duty: &Duty) -> io::Result<Self> {
        // Already a leader: then it has what this is for.
        let _ = setsid();
        set_child_subreaper(Some(getpid()))?;
        for (resource, most) in resources(&duty.limits) {
            setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
        }
        // What the host did not mark itself reaches us, and ends here.
        close_fds::set_fds_cloexec(3, &[]);
        let stop = heard(&[Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT])?;
        let kill = heard(&[KILL_NOW])?;
        let stop_alone = heard(&[STOP_ALONE])?;
        let child = heard(&[Signal::CHILD])?;
        let host = pidfd_open(duty.host, PidfdFlags::empty())?;
        Ok(Self { host, stop, kill, stop_alone, child })
    }

    /// Waits until the server has ended (its status), or is to be killed (`None`).
    fn until_over(&mut self, server: Pid, duty: &Duty) -> Option<WaitStatus> {
        let mut stage = Stage::Serving;
        loop {
            if let Some(status) = reap(server) {
                return Some(status);
            }
            let left = stage.until().map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                match stage {
                    Stage::Leaving(_) => stage = Stage::stop(server, duty.term),
                    _ => return None,
                }
                continue;
            }
            let happened = self.wait(left);
            if happened.kill {
                return None;
            }
            stage = match stage {
                // First: it may be seen in one go with the signal to stop alone, and must not be lost then.
                Stage::Serving | Stage::Leaving(_) if happened.stop => Stage::stop(server, duty.term),
                // Before the end of the host, which follows it.
                Stage::Serving if happened.stop_alone => Stage::Leaving(Instant::now() + duty.eof),
                Stage::Serving if happened.host_gone => Stage::stop(server, duty.term.min(ORPHANED)),
                same => same,
            };
        }
    }

    /// Waits for something to happen.
    fn wait(&mut self, most: Option<Duration>) -> Happened {
        let all = [&self.host, &self.stop, &self.kill, &self.stop_alone, &self.child];
        let mut fds = all.map(|fd| PollFd::new(fd, PollFlags::IN));
        // A host that is gone stays gone: once it was seen, only the time and the server count.
        let watched = if most.is_some() { &mut fds[1..] } else { &mut fds[..] };
        let _ = poll(watched, most.map(timespec).as_ref());
        let host_gone = !fds[0].revents().is_empty();
        // By reading, not by what was polled: a signal interrupts the poll, which then says nothing.
        let [stop, kill, stop_alone, _] = [&self.stop, &self.kill, &self.stop_alone, &self.child]
            .map(|fd| rustix::io::read(fd, &mut [0; 64]).is_ok_and(|read| read > 0));
        Happened { host_gone, stop, kill, stop_alone }
    }
}

/// What the shim was told or saw.
struct Happened {
    host_gone: bool,
    stop: bool,
    kill: bool,
    stop_alone: bool,
}

/// How far a server is on the way to its end.
#[derive(Clone, Copy)]
enum Stage {
    Serving,
    /// Its input has ended; it may end by itself until then.
    Leaving(Instant),
    /// It was asked to stop, and is killed then.
    Stopping(Instant),
}

impl Stage {
    /// Asks the server to stop, within this time.
    fn stop(server: Pid, within: Duration) -> Self {
        // Not reaped, so the number is still its own. A stopped process takes TERM once it continues.
        let _ = kill_process_group(server, Signal::TERM);
        let _ = kill_process_group(server, Signal::CONT);
        Self::Stopping(Instant::now() + within)
    }

    fn until(self) -> Option<Instant> {
        match self {
            Self::Serving => None,
            Self::Leaving(until) | Self::Stopping(until) => Some(until),
        }
    }
}

/// A descriptor that becomes readable when one of these signals comes.
fn heard(signals: &[Signal]) -> io::Result<OwnedFd> {
    let (reading, writing) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    for signal in signals {
        signal_hook::low_level::pipe::register(signal.as_raw(), writing.try_clone()?)?;
    }
    Ok(reading)
}

/// Reaps all that has ended, of the server's descendants too; the server's status if it is among them.
fn reap(server: Pid) -> Option<WaitStatus> {
    let mut found = None;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        if pid == server {
            found = Some(status);
        }
    }
    found
}

/// Kills every descendant until there is none, or time is up. The server's status if it was among them.
fn slay(server: Pid) -> Option<WaitStatus> {
    let start = Instant::now();
    let mut found = None;
    loop {
        found = reap(server).or(found);
        // No child is no descendant: whatever loses its parent becomes ours.
        if matches!(wait(WaitOptions::NOHANG), Err(rustix::io::Errno::CHILD)) || start.elapsed() > SLAY {
            return found;
        }
        // Stopped first, so that a tree that keeps forking stands still while it is killed.
        tree::signal_descendants(Signal::STOP);
        tree::signal_descendants(Signal::KILL);
        std::thread::sleep(LOOK);
    }
}

/// Ends this process the way the server ended.
fn end_like(status: WaitStatus) -> ! {
    let status = process::ExitStatus::from_raw(status.as_raw());
    if let Some(signal) = status.signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        process::exit(128 + signal);
    }
    process::exit(status.code().unwrap_or(NO_SERVER - 1));
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs().cast_signed(), tv_nsec: duration.subsec_nanos().into() }
}
