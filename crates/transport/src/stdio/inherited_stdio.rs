//! The stdin and stdout of this process as a pipe, for a server that a host has started.
//!
//! Invariants: descriptors 0 and 1 are taken before anything is read, so nothing else in the program can read or
//! write messages: 0 becomes /dev/null and 1 becomes stderr. No flag of an inherited file description is ever changed,
//! because the host shares it.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};
use switchboard_session::link::{LinkError, Pipe};
use tokio::net::unix::pipe;

use crate::stdio::child::PIPE_BYTES;
use crate::stdio::line::{LineInlet, LineOutlet};
use crate::stdio::socket::Socket;
use crate::stdio::threaded_io::ThreadedIo;

static TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes over stdin and stdout of this process as a pipe, permanently. The end of stdin closes the pipe.
///
/// From then on `println!` and any child that inherits stdout write to stderr, and reading stdin finds its end.
/// Pipes and sockets are used without a thread; a file or a terminal gets one thread in each direction, and a
/// thread waiting for a terminal lives as long as the process.
///
/// # Errors
/// When it was called before, outside a tokio runtime, or when a descriptor cannot be duplicated.
///
/// # Panics
/// In a tokio runtime whose I/O is not enabled.
///
/// # Examples
/// ```no_run
/// use switchboard::transport::stdio::take_stdio;
/// # async fn example(server: std::sync::Arc<switchboard::Server>) -> std::io::Result<()> {
/// let ended = server.serve(take_stdio()?).await; // `switchboard::serve_stdio` does the same
/// eprintln!("{ended}");
/// # Ok(()) }
/// ```
pub fn take_stdio() -> io::Result<Pipe> {
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(io::Error::other("serving on stdio needs a tokio runtime with I/O enabled"));
    }
    if TAKEN.swap(true, Ordering::SeqCst) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "stdin and stdout are taken already"));
    }
    let input = fcntl_dupfd_cloexec(stdin(), 3)?;
    let output = fcntl_dupfd_cloexec(stdout(), 3)?;
    let null = open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    dup2_stdin(&null)?;
    dup2_stdout(stderr())?;
    into_pipe(input, output)
}

/// Builds the pipe for each combination of source and sink types.
fn into_pipe(input: OwnedFd, output: OwnedFd) -> io::Result<Pipe> {
    let sink = StdoutSink::from_fd(output)?;
    Ok(match StdinSource::from_fd(input)? {
        StdinSource::Pipe(source) => sink.into_pipe(source),
        StdinSource::Socket(source) => sink.into_pipe(source),
        StdinSource::ThreadedIo(source) => sink.into_pipe(source),
    })
}

enum StdinSource {
    Pipe(pipe::Receiver),
    Socket(Socket),
    ThreadedIo(ThreadedIo),
}

impl StdinSource {
    fn from_fd(fd: OwnedFd) -> io::Result<Self> {
        Ok(match file_type(&fd)? {
            FileType::Socket => Self::Socket(Socket::new(fd)?),
            FileType::Fifo => match reopen(&fd, OFlags::RDONLY).and_then(pipe::Receiver::from_owned_fd) {
                Ok(pipe) => Self::Pipe(pipe),
                Err(_) => Self::ThreadedIo(ThreadedIo::reading(File::from(fd))?),
            },
            _ => Self::ThreadedIo(ThreadedIo::reading(File::from(fd))?),
        })
    }
}

enum StdoutSink {
    Pipe(pipe::Sender),
    Socket(Socket),
    ThreadedIo(ThreadedIo),
}

impl StdoutSink {
    fn from_fd(fd: OwnedFd) -> io::Result<Self> {
        Ok(match file_type(&fd)? {
            FileType::Socket => Self::Socket(Socket::new(fd)?),
            FileType::Fifo => match reopen(&fd, OFlags::WRONLY).and_then(pipe::Sender::from_owned_fd) {
                Ok(pipe) => {
                    enlarge_pipe(&pipe);
                    Self::Pipe(pipe)
                }
                Err(_) => Self::ThreadedIo(ThreadedIo::writing(File::from(fd))?),
            },
            _ => Self::ThreadedIo(ThreadedIo::writing(File::from(fd))?),
        })
    }

    fn into_pipe(self, source: impl tokio::io::AsyncRead + Unpin + Send + 'static) -> Pipe {
        const BROKEN: &str = "the host closed our stdout";
        let inlet = LineInlet::new(source).with_end(LinkError::Closed);
        match self {
            Self::Pipe(sink) => Pipe::new(LineOutlet::new(sink).with_broken(BROKEN), inlet),
            Self::Socket(sink) => Pipe::new(LineOutlet::new(sink).with_broken(BROKEN), inlet),
            Self::ThreadedIo(sink) => Pipe::new(LineOutlet::new(sink).with_broken(BROKEN), inlet),
        }
    }
}

/// Enlarges the pipe, so that a large message takes fewer writes.
fn enlarge_pipe(pipe: &pipe::Sender) {
    // Keeps a larger size of the host. Fails beyond the pipe quota of the user; the default size works too.
    if fcntl_getpipe_size(pipe).is_ok_and(|bytes| bytes < PIPE_BYTES) {
        let _ = fcntl_setpipe_size(pipe, PIPE_BYTES);
    }
}

fn file_type(fd: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(fd)?.st_mode))
}

/// Reopens the pipe with a file description of its own, whose flags the host does not share.
fn reopen(fd: &OwnedFd, access: OFlags) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    Ok(open(path, access | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?)
}
