//! A server as a child process: started, listened to, stopped.
//!
//! Invariants: the end of the process, not of its output, is the end of the pipe; what it wrote before it ended is
//! still read; when the guard is dropped nothing of it is left running.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::pin::Pin;
use std::process;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::process::{Pid, Rlimit, prlimit};
use switchboard_session::link::{
    BoxFuture, CloseOutcome, Exit, Frame, Inlet, LinkError, NotStarted, Pipe, PipeGuard, StartFault,
};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::Sleep;

use crate::stdio::command::{Stdio, Supervision};
use crate::stdio::ladder::{Push, Status, StopLadder, Stoppable, stop};
use crate::stdio::line::{LineInlet, LineOutlet, Read};
use crate::stdio::process::{Guard, Process};
use crate::stdio::stderr::Stderr;
use crate::stdio::{resolve, shim};

/// What the pipes hold, where the system allows it: fewer waits when either side is busy.
pub(super) const PIPE_BYTES: usize = 256 * 1024;
/// How long a process may live on after it closed its output.
const SILENT: Duration = Duration::from_secs(2);
/// How long what is left in the pipe is read after the process has ended.
const DRAIN: Duration = Duration::from_millis(100);
/// How long the last words on stderr are waited for.
const LAST_WORDS: Duration = Duration::from_millis(50);
/// Reads after which the process is looked at even if there is always more to read.
const LOOK_EVERY: u32 = 32;

/// Starts a server.
///
/// With the shim (see [`enter_if_asked`](crate::stdio::enter_if_asked)) everything the server starts ends with it,
/// and with us, however we end. Without it the server gets a process group of its own, which ends with it.
///
/// Must be called inside a tokio runtime with I/O and time enabled; without one the answer is an error. A runtime
/// that has no I/O driver can only be told by a panic inside tokio, which is caught: where panics abort
/// (`panic = "abort"`), that aborts.
///
/// # Errors
/// [`LinkError::NotStarted`], saying why and where the program was looked for. A file that exists but turns out
/// not to be executable only in the shim is the first error the pipe gives.
pub fn spawn(command: &Stdio) -> Result<(Pipe, ChildHandle), LinkError> {
    let (outlet, inlet, guard) = start(command).map_err(|error| LinkError::NotStarted(Arc::new(error)))?;
    let handle = ChildHandle { server: Arc::clone(&guard.server) };
    Ok((Pipe::new(outlet, inlet).with_guard(guard), handle))
}

type Started = (LineOutlet<ChildStdin>, ChildInlet, ChildKeeper);

fn start(command: &Stdio) -> Result<Started, NotStarted> {
    let environment = command.environment();
    let file = command.file()?;
    let refused = |error| resolve::refused(&file, error);

    let (ours, theirs) = pipes(&file)?;
    let guard = match command.supervision {
        Supervision::Best if shim::is_available() => Guard::Shim,
        Supervision::Best | Supervision::GroupOnly => Guard::Group,
    };
    let ticket = shim::Ticket::new();
    let mut process = match guard {
        Guard::Shim => shim::command(command, &file, &ticket),
        Guard::Group => {
            let mut direct = Command::new(&file);
            direct.arg0(command.program()).args(&command.args).process_group(0);
            direct
        }
    };
    process.env_clear().envs(environment).stdin(theirs.stdin).stdout(theirs.stdout).stderr(theirs.stderr);
    if let Some(directory) = command.directory() {
        process.current_dir(directory);
    }
    let child = process.spawn().map_err(refused)?;
    // Our copies of its ends must go, or its output would never end.
    drop(process);
    let process = Process::new(child, guard).map_err(refused)?;
    if guard == Guard::Group {
        limit(&process, command);
    }

    let server = Arc::new(Server {
        stderr: Stderr::drain(ours.stderr, process.id()),
        process,
        program: file.display().to_string(),
        ticket,
    });
    let outlet = LineOutlet::new(ours.stdin).with_broken("the server closed its stdin");
    let lines = LineInlet::new(ours.stdout).with_limit(command.line_limit);
    let inlet = ChildInlet::new(lines, Arc::clone(&server));
    Ok((outlet, inlet, ChildKeeper { server, ladder: command.ladder }))
}

/// Our ends of the three pipes.
struct Ours {
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
}

/// Its ends.
struct Theirs {
    stdin: process::Stdio,
    stdout: process::Stdio,
    stderr: process::Stdio,
}

fn pipes(file: &Path) -> Result<(Ours, Theirs), NotStarted> {
    let no_runtime = || {
        let why = io::Error::other("starting a server needs a tokio runtime with I/O and time enabled");
        NotStarted::new(file.display().to_string(), StartFault::Other).with_source(why)
    };
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(no_runtime());
    }
    let open = || -> io::Result<(Ours, Theirs)> {
        let (their_stdin, stdin) = large_pipe()?;
        let (stdout, their_stdout) = large_pipe()?;
        let (stderr, their_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
        drop(tokio::time::sleep(Duration::ZERO));
        let ours = Ours {
            stdin: ChildStdin::from_std(process::ChildStdin::from(stdin))?,
            stdout: ChildStdout::from_std(process::ChildStdout::from(stdout))?,
            stderr: ChildStderr::from_std(process::ChildStderr::from(stderr))?,
        };
        let theirs =
            Theirs { stdin: their_stdin.into(), stdout: their_stdout.into(), stderr: their_stderr.into() };
        Ok((ours, theirs))
    };
    // There is no way to ask tokio for its drivers; it panics when one is missing.
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(opened) => opened.map_err(|error| resolve::refused(file, error)),
        Err(_) => Err(no_runtime()),
    }
}

fn large_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reading, writing) = pipe_with(PipeFlags::CLOEXEC)?;
    // Refused when the user's pipes hold too much already; the usual size works too.
    let _ = fcntl_setpipe_size(&writing, PIPE_BYTES);
    Ok((reading, writing))
}

/// Without the shim the limits are set from outside, a moment after the start.
fn limit(process: &Process, command: &Stdio) {
    let pid = Pid::from_raw(process.id().cast_signed());
    for (resource, most) in shim::resources(&command.limits) {
        if let Err(error) = prlimit(pid, resource, Rlimit { current: Some(most), maximum: Some(most) }) {
            tracing::warn!(%error, ?resource, "a limit of the server could not be set");
        }
    }
}

/// A server process and what it says on the side.
#[derive(Debug)]
struct Server {
    process: Process,
    stderr: Stderr,
    program: String,
    ticket: shim::Ticket,
}

impl Server {
    /// How it ended, once its last words are in.
    async fn exit(&self, status: Status) -> Exit {
        self.stderr.drained(LAST_WORDS).await;
        Exit::new(status.code, status.signal, self.stderr.last_words())
    }

    /// What the end of the process means for the pipe.
    async fn end(&self, status: Status) -> LinkError {
        let exit = self.exit(status).await;
        if self.process.guard() == Guard::Shim
            && let Some(error) = self.ticket.refusal(&exit)
        {
            return LinkError::NotStarted(Arc::new(resolve::refused(Path::new(&self.program), error)));
        }
        LinkError::Exited(Arc::new(exit))
    }
}

/// A look at a server process from beside its pipe. Cheap to clone; does not keep the process alive.
#[derive(Clone)]
pub struct ChildHandle {
    server: Arc<Server>,
}

impl ChildHandle {
    /// The process id of the server itself. `None` while its supervisor has not started it yet, and when it ended before
    /// it was seen. The id may belong to another process once the server has ended.
    pub fn pid(&self) -> Option<u32> {
        self.server.process.server_id()
    }

    /// The process id of the child that was spawned: the supervisor, or the server where there is none.
    pub fn root_pid(&self) -> u32 {
        self.server.process.id()
    }

    /// The process id of the supervisor that guards the server; `None` where only the process group does.
    pub fn supervisor_pid(&self) -> Option<u32> {
        (self.server.process.guard() == Guard::Shim).then(|| self.server.process.id())
    }

    /// What is kept of its stderr: the last 64 KiB, long lines cut, control characters replaced.
    pub fn stderr_tail(&self) -> String {
        self.server.stderr.tail()
    }

    /// Waits for its end.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing. When the pipe was dropped rather than left, code and signal are unknown.
    pub async fn exited(&self) -> Exit {
        let status = self.server.process.exited().await;
        self.server.exit(status).await
    }
}

impl fmt::Debug for ChildHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildHandle").field("root_pid", &self.root_pid()).finish_non_exhaustive()
    }
}

/// Ends the server when it is left or dropped.
///
/// Dropping it kills at once and needs no runtime; the dead process is reaped the next time any tokio runtime of
/// this program waits, so a program without one keeps a zombie until it ends.
struct ChildKeeper {
    server: Arc<Server>,
    ladder: StopLadder,
}

impl PipeGuard for ChildKeeper {
    fn close(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        Box::pin(async move {
            let server = &*self.server;
            match stop(&server.process, self.ladder.within(within)).await {
                Some(status) => CloseOutcome::Exited(server.exit(status).await),
                None => {
                    server.process.force();
                    let what = format!("process {}", server.process.id());
                    tracing::warn!(
                        program = server.program,
                        what,
                        "a server could not be stopped and was given up"
                    );
                    CloseOutcome::Abandoned { what }
                }
            }
        })
    }

    fn detach(&self) -> bool {
        self.server.process.detach()
    }
}

impl Drop for ChildKeeper {
    fn drop(&mut self) {
        self.server.process.let_go();
        self.server.stderr.stop();
    }
}

/// What the server writes, until it ends.
struct ChildInlet {
    lines: LineInlet<ChildStdout>,
    server: Arc<Server>,
    exited: BoxFuture<'static, Status>,
    stage: Stage,
    reads: u32,
    is_found: bool,
}

enum Stage {
    /// It runs and writes.
    Open,
    /// Its output has ended; it may be about to end.
    Silent(Pin<Box<Sleep>>),
    /// It has ended; what it left in the pipe is read, until then.
    Draining(Status, Instant),
    /// Its last words are waited for.
    Ending(BoxFuture<'static, LinkError>),
}

impl ChildInlet {
    fn new(lines: LineInlet<ChildStdout>, server: Arc<Server>) -> Self {
        let watched = Arc::clone(&server);
        let exited = Box::pin(async move { watched.process.exited().await });
        Self { lines, server, exited, stage: Stage::Open, reads: 0, is_found: false }
    }

    fn poll_open(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        self.reads = self.reads.wrapping_add(1);
        if self.reads.is_multiple_of(LOOK_EVERY) && self.poll_exited(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        match self.lines.poll_read(cx, into) {
            Poll::Ready(Ok(Read::Frames)) => {
                if !self.is_found {
                    // It has spoken, so it runs: seen now, it is known even if it kills its supervisor later.
                    self.is_found = true;
                    self.server.process.find_server();
                }
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Ok(Read::End)) => {
                self.stage = Stage::Silent(Box::pin(tokio::time::sleep(SILENT)));
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => {
                self.server.process.push(Push::Kill);
                Poll::Ready(Err(error))
            }
            Poll::Pending => self.poll_exited(cx).map(Ok),
        }
    }

    /// Ready when the process has ended and the stage has changed.
    fn poll_exited(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let status = ready!(self.exited.as_mut().poll(cx));
        self.stage = Stage::Draining(status, Instant::now() + DRAIN);
        Poll::Ready(())
    }

    /// Reads what is there now, past the reactor: it may not have heard of the last bytes yet. A process that lives
    /// on may hold the pipe open, so its end is not waited for.
    fn drain(&mut self, until: Instant, into: &mut Vec<Frame>) -> Drained {
        let before = into.len();
        let mut chunk = [0; 16 * 1024];
        while Instant::now() < until {
            match rustix::io::read(self.lines.source().as_fd(), &mut chunk) {
                Ok(0) => break,
                Ok(read) => {
                    if self.lines.lines().feed(&chunk[..read], into).is_err() {
                        break;
                    }
                    if into.len() > before {
                        return Drained::Some;
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
        }
        self.lines.lines().finish(into);
        Drained::All
    }
}

enum Drained {
    Some,
    All,
}

impl Inlet for ChildInlet {
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        let before = into.len();
        while into.len() == before {
            match &mut self.stage {
                Stage::Open => ready!(self.poll_open(cx, into))?,
                Stage::Silent(patience) => {
                    if patience.as_mut().poll(cx).is_ready() {
                        self.server.process.push(Push::Kill);
                        return Poll::Ready(Err(LinkError::lost("the server closed its stdout")));
                    }
                    ready!(self.poll_exited(cx));
                }
                &mut Stage::Draining(status, until) => {
                    if let Drained::All = self.drain(until, into) {
                        let server = Arc::clone(&self.server);
                        self.stage = Stage::Ending(Box::pin(async move { server.end(status).await }));
                    }
                }
                Stage::Ending(end) => return end.as_mut().poll(cx).map(Err),
            }
        }
        Poll::Ready(Ok(()))
    }
}
