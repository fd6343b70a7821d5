//! Waits for the exit of a process through its pidfd, from any number of tasks.
//!
//! A pidfd becomes readable when its process ends, and stays readable.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::stdio::async_fd::register;

/// A pidfd that any number of tasks can wait for.
#[derive(Debug)]
pub(crate) struct Pidfd(AsyncFd<OwnedFd>);

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
        register(pidfd, Interest::READABLE).map(Self)
    }

    /// Waits until the process has exited.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(crate) async fn wait(&self) -> PidfdWait {
        match self.0.readable().await {
            Ok(_still_readable) => PidfdWait::Exited,
            Err(_) => PidfdWait::RuntimeStopped,
        }
    }

    /// Returns whether the process has exited, without a runtime.
    pub(crate) fn has_exited(&self) -> bool {
        let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::process;
    use std::sync::Arc;
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
