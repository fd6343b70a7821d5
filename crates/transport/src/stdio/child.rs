//! A server as a child process: spawns it, reads its output, stops it.
//!
//! Invariants: the pipe ends when the process exits, not when its output does; what it wrote before is still read; when
//! the guard is dropped, no process of it is left running.

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
    BoxFuture, CloseOutcome, Frame, Inlet, LinkError, Pipe, PipeGuard, ServerExit, StartError, StartErrorKind,
};
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::time::Sleep;

use crate::stdio::command::{Stdio, Supervision};
use crate::stdio::line::{LineInlet, LineOutlet, ReadOutcome};
use crate::stdio::process::{Containment, Process};
use crate::stdio::stderr::{Stderr, StderrLines};
use crate::stdio::stop::{ProcessExit, StopSignal, StopTimeouts, Stoppable, stop};
use crate::stdio::{resolve, supervisor};

/// Capacity of the pipes, if the system allows it: fewer waits when either side is busy.
pub(super) const PIPE_BYTES: usize = 256 * 1024;
/// How long a process may take to exit after it closed its stdout.
const EXIT_AFTER_EOF: Duration = Duration::from_secs(2);
/// How long the rest of the output is read after the process has exited.
const DRAIN_TIME: Duration = Duration::from_millis(100);
/// How long to wait for the rest of stderr after the process has exited.
const STDERR_WAIT: Duration = Duration::from_millis(50);
/// Number of reads after which the exit of the process is checked even if more output is available.
const READS_PER_EXIT_CHECK: u32 = 32;

/// Starts a server.
///
/// With the supervisor (see [`run_supervisor_if_requested`](crate::stdio::run_supervisor_if_requested)) all descendants of the server end with
/// it and with this process, even if that is killed. Without it only the process group of the server ends with it.
///
/// Must be called inside a tokio runtime with I/O and time enabled; otherwise it returns an error. A
/// runtime without an I/O driver can only be detected by a panic inside tokio, which is caught; with `panic = "abort"` the
/// program aborts.
///
/// # Errors
/// [`LinkError::NotStarted`], with the reason and where the program was searched. If the file turns out not to be
/// executable only in the supervisor, that is the first error of the pipe.
pub fn spawn(command: &Stdio) -> Result<(Pipe, ChildHandle), LinkError> {
    let (outlet, inlet, containment) =
        start(command).map_err(|error| LinkError::NotStarted(Arc::new(error)))?;
    let handle = ChildHandle { server: Arc::clone(&containment.server) };
    Ok((Pipe::new(outlet, inlet).with_guard(containment), handle))
}

type StartedChild = (LineOutlet<pipe::Sender>, ChildInlet, ChildGuard);

fn start(command: &Stdio) -> Result<StartedChild, StartError> {
    let environment = command.environment();
    let file = command.file()?;
    let refused = |error| resolve::start_error(&file, error);

    let (parent_ends, child_ends) = pipes(&file)?;
    let containment = match command.supervision {
        Supervision::Best if supervisor::is_available() => Containment::Supervisor,
        Supervision::Best | Supervision::GroupOnly => Containment::ProcessGroup,
    };
    let token = supervisor::StartToken::new();
    let mut process = match containment {
        Containment::Supervisor => supervisor::command(command, &file, &token),
        Containment::ProcessGroup => {
            let mut direct = Command::new(&file);
            direct.arg0(command.program()).args(&command.args).process_group(0);
            direct
        }
    };
    process
        .env_clear()
        .envs(environment)
        .stdin(child_ends.stdin)
        .stdout(child_ends.stdout)
        .stderr(child_ends.stderr);
    if let Some(directory) = command.directory() {
        process.current_dir(directory);
    }
    let child = process.spawn().map_err(refused)?;
    // Closes our copies of the child's ends; otherwise its output would never end.
    drop(process);
    let process = Process::new(child, containment).map_err(refused)?;
    if containment == Containment::ProcessGroup {
        set_limits(&process, command);
    }

    let server = Arc::new(ServerProcess {
        stderr: Stderr::drain(parent_ends.stderr, process.id()),
        process,
        program: file.display().to_string(),
        token,
    });
    let outlet = LineOutlet::new(parent_ends.stdin).with_broken("the server closed its stdin");
    let lines = LineInlet::new(parent_ends.stdout).with_limit(command.line_limit);
    let inlet = ChildInlet::new(lines, Arc::clone(&server));
    Ok((outlet, inlet, ChildGuard { server, stop_timeouts: command.stop_timeouts }))
}

/// The parent's ends of the three pipes.
struct ParentEnds {
    stdin: pipe::Sender,
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
}

/// The child's ends of the three pipes.
struct ChildEnds {
    stdin: process::Stdio,
    stdout: process::Stdio,
    stderr: process::Stdio,
}

fn pipes(file: &Path) -> Result<(ParentEnds, ChildEnds), StartError> {
    let no_runtime = || {
        let why = io::Error::other("starting a server needs a tokio runtime with I/O and time enabled");
        StartError::new(file.display().to_string(), StartErrorKind::Other).with_source(why)
    };
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(no_runtime());
    }
    let open = || -> io::Result<(ParentEnds, ChildEnds)> {
        let (their_stdin, stdin) = large_pipe()?;
        let (stdout, their_stdout) = large_pipe()?;
        let (stderr, their_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
        drop(tokio::time::sleep(Duration::ZERO));
        let parent_ends = ParentEnds {
            stdin: pipe::Sender::from_owned_fd(stdin)?,
            stdout: pipe::Receiver::from_owned_fd(stdout)?,
            stderr: pipe::Receiver::from_owned_fd(stderr)?,
        };
        let child_ends =
            ChildEnds { stdin: their_stdin.into(), stdout: their_stdout.into(), stderr: their_stderr.into() };
        Ok((parent_ends, child_ends))
    };
    // tokio has no way to query its drivers; it panics when one is missing.
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(opened) => opened.map_err(|error| resolve::start_error(file, error)),
        Err(_) => Err(no_runtime()),
    }
}

fn large_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reading, writing) = pipe_with(PipeFlags::CLOEXEC)?;
    // Fails beyond the pipe quota of the user; the default size works too.
    let _ = fcntl_setpipe_size(&writing, PIPE_BYTES);
    Ok((reading, writing))
}

/// Sets the resource limits from outside, shortly after the start, if there is no supervisor to do it.
fn set_limits(process: &Process, command: &Stdio) {
    let pid = Pid::from_raw(process.id().cast_signed());
    for (resource, most) in supervisor::resources(&command.limits) {
        if let Err(error) = prlimit(pid, resource, Rlimit { current: Some(most), maximum: Some(most) }) {
            tracing::warn!(%error, ?resource, "cannot set a resource limit of the server");
        }
    }
}

/// A server process and its stderr.
#[derive(Debug)]
struct ServerProcess {
    process: Process,
    stderr: Stderr,
    program: String,
    token: supervisor::StartToken,
}

impl ServerProcess {
    /// Returns the exit status with the end of stderr.
    async fn exit(&self, status: ProcessExit) -> ServerExit {
        self.stderr.drained(STDERR_WAIT).await;
        ServerExit::new(status.code, status.signal, self.stderr.tail_for_errors())
    }

    /// Returns the error with which the pipe ends.
    async fn exit_error(&self, status: ProcessExit) -> LinkError {
        let exit = self.exit(status).await;
        if self.process.containment() == Containment::Supervisor
            && let Some(error) = self.token.start_error(&exit)
        {
            return LinkError::NotStarted(Arc::new(resolve::start_error(Path::new(&self.program), error)));
        }
        LinkError::Exited(Arc::new(exit))
    }
}

/// A handle to inspect a server process. Cheap to clone; does not keep the process alive.
#[derive(Clone)]
pub struct ChildHandle {
    server: Arc<ServerProcess>,
}

impl ChildHandle {
    /// Returns the process id of the server itself. `None` while its supervisor has not started it yet, and if it ended
    /// before it was located. The id may belong to another process once the server has ended.
    pub fn pid(&self) -> Option<u32> {
        self.server.process.server_id()
    }

    /// Returns the process id of the child that was spawned: the supervisor, or the server if it runs without a supervisor.
    pub fn root_pid(&self) -> u32 {
        self.server.process.id()
    }

    /// Returns the process id of the supervisor that guards the server; `None` where only the process group does.
    pub fn supervisor_pid(&self) -> Option<u32> {
        (self.server.process.containment() == Containment::Supervisor).then(|| self.server.process.id())
    }

    /// Returns the end of its stderr: the last 64 KiB, long lines cut, control characters replaced.
    pub fn stderr_tail(&self) -> String {
        self.server.stderr.tail()
    }

    /// Returns the complete lines of its stderr that follow a position, at first 0: for a display that follows it.
    pub fn stderr_lines(&self, position: u64) -> StderrLines {
        self.server.stderr.lines_after(position)
    }

    /// Waits until the process has exited.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing. If the pipe was dropped instead of closed, code and signal are unknown.
    pub async fn exited(&self) -> ServerExit {
        let status = self.server.process.exited().await;
        self.server.exit(status).await
    }
}

impl fmt::Debug for ChildHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildHandle").field("root_pid", &self.root_pid()).finish_non_exhaustive()
    }
}

/// Stops the server when the pipe is closed or dropped.
///
/// Dropping it kills at once and needs no runtime; the dead process is reaped the next time any tokio runtime of
/// this program waits, so a program without one keeps a zombie until it ends.
struct ChildGuard {
    server: Arc<ServerProcess>,
    stop_timeouts: StopTimeouts,
}

impl PipeGuard for ChildGuard {
    fn close(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        Box::pin(async move {
            let server = &*self.server;
            match stop(&server.process, self.stop_timeouts.within(within)).await {
                Some(status) => CloseOutcome::Exited(server.exit(status).await),
                None => {
                    server.process.force_kill();
                    let what = format!("process {}", server.process.id());
                    tracing::warn!(
                        program = server.program,
                        what,
                        "server process abandoned: it cannot be stopped"
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

impl Drop for ChildGuard {
    fn drop(&mut self) {
        self.server.process.kill_and_release();
        self.server.stderr.stop();
    }
}

/// Reads the messages of the server until it exits.
struct ChildInlet {
    lines: LineInlet<pipe::Receiver>,
    server: Arc<ServerProcess>,
    exited: BoxFuture<'static, ProcessExit>,
    stage: InletStage,
    reads: u32,
    is_server_located: bool,
}

enum InletStage {
    /// The process runs.
    Open,
    /// Its stdout is closed; it should exit soon.
    Silent(Pin<Box<Sleep>>),
    /// It has exited; the rest of its output is read until the deadline.
    Draining(ProcessExit, Instant),
    /// The rest of stderr is awaited.
    Ending(BoxFuture<'static, LinkError>),
}

impl ChildInlet {
    fn new(lines: LineInlet<pipe::Receiver>, server: Arc<ServerProcess>) -> Self {
        let watched = Arc::clone(&server);
        let exited = Box::pin(async move { watched.process.exited().await });
        Self { lines, server, exited, stage: InletStage::Open, reads: 0, is_server_located: false }
    }

    fn poll_open(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        self.reads = self.reads.wrapping_add(1);
        if self.reads.is_multiple_of(READS_PER_EXIT_CHECK) && self.poll_exited(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        match self.lines.poll_read(cx, into) {
            Poll::Ready(Ok(ReadOutcome::Frames)) => {
                if !self.is_server_located {
                    // Located at its first output, so that it can be killed even if its supervisor is killed.
                    self.is_server_located = true;
                    self.server.process.locate_server();
                }
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Ok(ReadOutcome::End)) => {
                self.stage = InletStage::Silent(Box::pin(tokio::time::sleep(EXIT_AFTER_EOF)));
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Err(error)) => {
                self.server.process.signal(StopSignal::Kill);
                Poll::Ready(Err(error))
            }
            Poll::Pending => self.poll_exited(cx).map(Ok),
        }
    }

    /// Polls for the exit of the process. Ready once it has exited; the stage is then [`InletStage::Draining`].
    fn poll_exited(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let status = ready!(self.exited.as_mut().poll(cx));
        self.stage = InletStage::Draining(status, Instant::now() + DRAIN_TIME);
        Poll::Ready(())
    }

    /// Reads the available output directly, because the reactor may not have reported it yet. Does not wait for the end of
    /// the pipe, which a surviving descendant may hold open.
    fn drain(&mut self, until: Instant, into: &mut Vec<Frame>) -> DrainOutcome {
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
                        return DrainOutcome::Some;
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => break,
            }
        }
        self.lines.lines().finish(into);
        DrainOutcome::All
    }
}

enum DrainOutcome {
    Some,
    All,
}

impl Inlet for ChildInlet {
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        let before = into.len();
        while into.len() == before {
            match &mut self.stage {
                InletStage::Open => ready!(self.poll_open(cx, into))?,
                InletStage::Silent(timeout) => {
                    if timeout.as_mut().poll(cx).is_ready() {
                        self.server.process.signal(StopSignal::Kill);
                        return Poll::Ready(Err(LinkError::lost("the server closed its stdout")));
                    }
                    ready!(self.poll_exited(cx));
                }
                &mut InletStage::Draining(status, until) => {
                    if let DrainOutcome::All = self.drain(until, into) {
                        let server = Arc::clone(&self.server);
                        self.stage =
                            InletStage::Ending(Box::pin(async move { server.exit_error(status).await }));
                    }
                }
                InletStage::Ending(end) => return end.as_mut().poll(cx).map(Err),
            }
        }
        Poll::Ready(Ok(()))
    }
}
