//! Waits for the exit of a process through its pidfd, from any number of tasks.
//!
//! A pidfd becomes readable when its process ends. It is registered with tokio as a `ChildStdout`, of which only the
//! readiness is used. The general way, `AsyncFd`, needs tokio's `net` feature.

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

/// A pidfd that any number of tasks can wait for.
#[derive(Debug)]
pub(crate) struct Pidfd {
    pidfd: Mutex<ChildStdout>,
    /// The one waker that the runtime keeps per descriptor; it notifies all waiting tasks.
    notify: Arc<NotifyWaker>,
}

#[derive(Debug, Default)]
struct NotifyWaker(Notify);

impl Wake for NotifyWaker {
    fn wake(self: Arc<Self>) {
        self.0.notify_waiters();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.notify_waiters();
    }
}

/// The outcome of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PidfdWait {
    /// The process has exited.
    Exited,
    /// The runtime is shutting down, so no event will come.
    RuntimeStopped,
}

impl Pidfd {
    /// Registers a pidfd. Must be called inside a runtime with I/O enabled.
    pub(crate) fn new(pidfd: OwnedFd) -> io::Result<Self> {
        let pidfd = ChildStdout::from_std(process::ChildStdout::from(pidfd))?;
        Ok(Self { pidfd: Mutex::new(pidfd), notify: Arc::default() })
    }

    /// Waits until the process has exited.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(crate) async fn wait(&self) -> PidfdWait {
        loop {
            let mut notify = pin!(self.notify.0.notified());
            // Enabled before polling, so that no notification is missed between the two.
            notify.as_mut().enable();
            match self.poll_exited() {
                Poll::Ready(outcome) => return outcome,
                Poll::Pending => notify.await,
            }
        }
    }

    /// Returns whether the process has exited, without a runtime.
    pub(crate) fn has_exited(&self) -> bool {
        let pidfd = self.pidfd.lock();
        let mut fds = [PollFd::new(&*pidfd, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
    }

    fn poll_exited(&self) -> Poll<PidfdWait> {
        let waker = Waker::from(Arc::clone(&self.notify));
        let mut byte = [0];
        let mut pidfd = self.pidfd.lock();
        let read =
            Pin::new(&mut *pidfd).poll_read(&mut Context::from_waker(&waker), &mut ReadBuf::new(&mut byte));
        read.map(|read| match read {
            // Not an OS error: the runtime is gone.
            Err(error) if error.raw_os_error().is_none() => PidfdWait::RuntimeStopped,
            // Reading a pidfd fails with an OS error once it is ready.
            _ => PidfdWait::Exited,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use super::*;

    fn sleeping() -> (process::Child, Pidfd) {
        let child = process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed()).unwrap();
        let pidfd = Pidfd::new(pidfd_open(pid, PidfdFlags::NONBLOCK).unwrap()).unwrap();
        (child, pidfd)
    }

    #[tokio::test]
    async fn all_waiters_and_later_ones_see_the_exit() {
        let (mut child, pidfd) = sleeping();
        let pidfd = Arc::new(pidfd);
        let early = tokio::time::timeout(Duration::from_millis(20), pidfd.wait()).await;
        assert!(early.is_err(), "it runs");
        assert!(!pidfd.has_exited());
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let pidfd = Arc::clone(&pidfd);
                tokio::spawn(async move { pidfd.wait().await })
            })
            .collect();
        tokio::task::yield_now().await;
        child.kill().unwrap();
        for task in waiting {
            assert_eq!(task.await.unwrap(), PidfdWait::Exited);
        }
        assert!(pidfd.has_exited());
        assert_eq!(pidfd.wait().await, PidfdWait::Exited);
        child.wait().unwrap();
    }

    #[test]
    fn a_stopped_runtime_reports_no_exit() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (mut child, pidfd) = runtime.block_on(async { sleeping() });
        drop(runtime);
        let other = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert_eq!(other.block_on(pidfd.wait()), PidfdWait::RuntimeStopped);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
