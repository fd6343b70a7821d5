//! Our own stdin and stdout as a pipe: what a server speaks to the host that started it.
//!
//! Invariants: descriptors 0 and 1 are taken before anything is read, so nothing else in the program can read or
//! write the wire: 0 becomes /dev/null and 1 becomes stderr. No flag of an inherited description is ever changed,
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

use crate::stdio::bridge::Bridge;
use crate::stdio::child::PIPE_BYTES;
use crate::stdio::line::{LineInlet, LineOutlet};
use crate::stdio::socket::Socket;

static TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes our stdin and stdout as a pipe, for good. The end of stdin ends the pipe as closed.
///
/// From then on `println!` and any child that inherits stdout write to stderr, and reading stdin finds its end.
/// Pipes and sockets are used without a thread; a file or a terminal gets one thread in each direction, and a
/// thread waiting for a terminal lives as long as the process.
///
/// # Errors
/// When it was called before, outside a tokio runtime, or when a descriptor cannot be had.
///
/// # Panics
/// In a tokio runtime whose I/O is not enabled.
pub fn own_stdio() -> io::Result<Pipe> {
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
    join(input, output)
}

/// The kinds of source and of sink differ in type, so each pair becomes a pipe of its own.
fn join(input: OwnedFd, output: OwnedFd) -> io::Result<Pipe> {
    let sink = Sink::of(output)?;
    Ok(match Source::of(input)? {
        Source::Pipe(source) => sink.join(source),
        Source::Socket(source) => sink.join(source),
        Source::Bridge(source) => sink.join(source),
    })
}

enum Source {
    Pipe(pipe::Receiver),
    Socket(Socket),
    Bridge(Bridge),
}

impl Source {
    fn of(fd: OwnedFd) -> io::Result<Self> {
        Ok(match kind(&fd)? {
            FileType::Socket => Self::Socket(Socket::new(fd)?),
            FileType::Fifo => match reopen(&fd, OFlags::RDONLY).and_then(pipe::Receiver::from_owned_fd) {
                Ok(pipe) => Self::Pipe(pipe),
                Err(_) => Self::Bridge(Bridge::reading(File::from(fd))?),
            },
            _ => Self::Bridge(Bridge::reading(File::from(fd))?),
        })
    }
}

enum Sink {
    Pipe(pipe::Sender),
    Socket(Socket),
    Bridge(Bridge),
}

impl Sink {
    fn of(fd: OwnedFd) -> io::Result<Self> {
        Ok(match kind(&fd)? {
            FileType::Socket => Self::Socket(Socket::new(fd)?),
            FileType::Fifo => match reopen(&fd, OFlags::WRONLY).and_then(pipe::Sender::from_owned_fd) {
                Ok(pipe) => {
                    enlarge(&pipe);
                    Self::Pipe(pipe)
                }
                Err(_) => Self::Bridge(Bridge::writing(File::from(fd))?),
            },
            _ => Self::Bridge(Bridge::writing(File::from(fd))?),
        })
    }

    fn join(self, source: impl tokio::io::AsyncRead + Unpin + Send + 'static) -> Pipe {
        const BROKEN: &str = "the host closed our stdout";
        let inlet = LineInlet::new(source).with_end(LinkError::Closed);
        match self {
            Self::Pipe(sink) => Pipe::new(LineOutlet::new(sink).with_broken(BROKEN), inlet),
            Self::Socket(sink) => Pipe::new(LineOutlet::new(sink).with_broken(BROKEN), inlet),
            Self::Bridge(sink) => Pipe::new(LineOutlet::new(sink).with_broken(BROKEN), inlet),
        }
    }
}

/// A large answer then takes a few turns with the host instead of many.
fn enlarge(pipe: &pipe::Sender) {
    // A host that made it large itself knows better. Refused when the user's pipes hold too much already; the usual size
    // works too.
    if fcntl_getpipe_size(pipe).is_ok_and(|bytes| bytes < PIPE_BYTES) {
        let _ = fcntl_setpipe_size(pipe, PIPE_BYTES);
    }
}

fn kind(fd: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(fd)?.st_mode))
}

/// The same pipe through a description of our own, whose flags nobody shares.
fn reopen(fd: &OwnedFd, access: OFlags) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    Ok(open(path, access | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?)
}
