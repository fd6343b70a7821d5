//! Our own standard input and output, and how large a pipe is.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::fd::{AsFd, BorrowedFd};
use rustix::pipe::fcntl_setpipe_size;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};

use crate::lines::Lines;

/// What enlarged pipes hold.
const WIDE: usize = 256 * 1024;

/// Enlarges a pipe, where the system allows it.
pub fn widen(pipe: impl AsFd) {
    let _ = fcntl_setpipe_size(pipe, WIDE);
}

/// Our own standard input and output. Pipes are opened anew, so that waiting on them changes nothing for others.
pub fn own(wide: bool) -> io::Result<Lines<Own, Own>> {
    if wide {
        widen(std::io::stdin());
        widen(std::io::stdout());
    }
    // Some hosts give their servers sockets, which cannot be opened anew.
    let from = match OpenOptions::new().open_receiver("/dev/stdin") {
        Ok(pipe) => Own::Reading(pipe),
        Err(_) => Own::Socket(socket(std::io::stdin().as_fd())?),
    };
    let to = match OpenOptions::new().open_sender("/dev/stdout") {
        Ok(pipe) => Own::Writing(pipe),
        Err(_) => Own::Socket(socket(std::io::stdout().as_fd())?),
    };
    Ok(Lines::new(from, to))
}

fn socket(fd: BorrowedFd<'_>) -> io::Result<UnixStream> {
    let socket = std::os::unix::net::UnixStream::from(fd.try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

/// One of our own two ends.
#[derive(Debug)]
pub enum Own {
    Reading(Receiver),
    Writing(Sender),
    Socket(UnixStream),
}

impl AsyncRead for Own {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Reading(pipe) => Pin::new(pipe).poll_read(cx, into),
            Self::Socket(socket) => Pin::new(socket).poll_read(cx, into),
            Self::Writing(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        }
    }
}

impl AsyncWrite for Own {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Writing(pipe) => Pin::new(pipe).poll_write(cx, bytes),
            Self::Socket(socket) => Pin::new(socket).poll_write(cx, bytes),
            Self::Reading(_) => Poll::Ready(Err(io::ErrorKind::Unsupported.into())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
