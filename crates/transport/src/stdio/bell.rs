//! Rings when a process has ended, for everybody who waits for it.
//!
//! A pidfd becomes readable when its process ends. It is watched as what tokio's processes come with, the output of a
//! child: what reading it says is of no interest, only that there is something to say. The general way, `AsyncFd`, is
//! part of tokio's networking, and a client of child processes should not have to build that.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::{Pin, pin};
use std::process;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::process::ChildStdout;
use tokio::sync::Notify;

/// A pidfd that any number of tasks wait for.
#[derive(Debug)]
pub(crate) struct Bell {
    pidfd: Mutex<ChildStdout>,
    /// The runtime wakes one who waits for a descriptor; this is that one, and passes it on.
    told: Arc<Told>,
}

#[derive(Debug, Default)]
struct Told(Notify);

impl Wake for Told {
    fn wake(self: Arc<Self>) {
        self.0.notify_waiters();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify_waiters();
    }
}

/// What waiting came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rung {
    /// The process has ended.
    Ended,
    /// The runtime is shutting down and tells nothing more.
    Never,
}

impl Bell {
    /// Must be called inside a runtime with I/O enabled.
    pub(crate) fn new(pidfd: OwnedFd) -> io::Result<Self> {
        let pidfd = ChildStdout::from_std(process::ChildStdout::from(pidfd))?;
        Ok(Self { pidfd: Mutex::new(pidfd), told: Arc::default() })
    }

    /// Waits until it rings.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(crate) async fn rung(&self) -> Rung {
        loop {
            let mut told = pin!(self.told.0.notified());
            // Before the look, so that no ring is missed between the two.
            told.as_mut().enable();
            match self.look() {
                Poll::Ready(rung) => return rung,
                Poll::Pending => told.await,
            }
        }
    }

    /// Whether it has rung, as the system says now. Needs no runtime.
    pub(crate) fn has_rung(&self) -> bool {
        let pidfd = self.pidfd.lock();
        let mut fds = [PollFd::new(&*pidfd, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
    }

    fn look(&self) -> Poll<Rung> {
        let waker = Waker::from(Arc::clone(&self.told));
        let mut byte = [0];
        let mut pidfd = self.pidfd.lock();
        let read =
            Pin::new(&mut *pidfd).poll_read(&mut Context::from_waker(&waker), &mut ReadBuf::new(&mut byte));
        read.map(|read| match read {
            // Not the system's: the runtime refuses.
            Err(error) if error.raw_os_error().is_none() => Rung::Never,
            // A pidfd cannot be read, and says so once it is readable.
            _ => Rung::Ended,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use super::*;

    fn sleeping() -> (process::Child, Bell) {
        let child = process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
        let bell = Bell::new(pidfd_open(pid, PidfdFlags::NONBLOCK).unwrap()).unwrap();
        (child, bell)
    }

    #[tokio::test]
    async fn everybody_who_waits_hears_it_and_so_do_those_who_come_later() {
        let (mut child, bell) = sleeping();
        let bell = Arc::new(bell);
        let early = tokio::time::timeout(Duration::from_millis(20), bell.rung()).await;
        assert!(early.is_err(), "it runs");
        assert!(!bell.has_rung());
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let bell = Arc::clone(&bell);
                tokio::spawn(async move { bell.rung().await })
            })
            .collect();
        tokio::task::yield_now().await;
        child.kill().unwrap();
        for task in waiting {
            assert_eq!(task.await.unwrap(), Rung::Ended);
        }
        assert!(bell.has_rung());
        assert_eq!(bell.rung().await, Rung::Ended);
        child.wait().unwrap();
    }

    #[test]
    fn a_runtime_that_is_gone_never_rings() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (mut child, bell) = runtime.block_on(async { sleeping() });
        drop(runtime);
        let other = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert_eq!(other.block_on(bell.rung()), Rung::Never);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
