//! One child process: waits for it, signals it, reaps it.
//!
//! Invariants: a pid is only signalled while its process is not reaped, under the lock that reaping takes too. A group is
//! killed before its leader is reaped, so that its id cannot have been reused; likewise the session of a killed
//! supervisor, so that its server ends too.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::OnceLock;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, pidfd_open, waitid,
};
use switchboard_session::link::BoxFuture;
use tokio::process::Child;
use tokio::signal::unix::{SignalKind, signal};

use crate::stdio::pidfd::{Pidfd, PidfdWait};
use crate::stdio::stop::{ProcessExit, StopSignal, Stoppable};
use crate::stdio::{process_tree, supervisor};

/// Polling interval where neither a pidfd nor SIGCHLD reports the exit.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How the descendants of a server are contained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Containment {
    /// By a supervisor: the child is the supervisor, the server is its child, and all descendants end with it.
    Supervisor,
    /// By its process group only: the child is the server, and a descendant that leaves the group escapes.
    ProcessGroup,
}

/// One child process.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    containment: Containment,
    /// Reports the exit. `None` without pidfds (an old kernel, a sandbox): then SIGCHLD is used.
    pidfd_watcher: Option<Pidfd>,
    state: Mutex<ProcessState>,
    /// The server below a supervisor, once located.
    server: OnceLock<process_tree::ProcessIdentity>,
}

#[derive(Debug)]
enum ProcessState {
    /// Not reaped: its pid and its group id are valid.
    Held(Child),
    /// Reaped.
    Reaped(ProcessExit),
    /// Killed, or left to the supervisor; the runtime reaps it.
    Released,
}

impl Process {
    /// Takes over a child that was just started. Must be called inside a runtime.
    pub(crate) fn new(child: Child, containment: Containment) -> io::Result<Self> {
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let pid = pid.ok_or_else(|| io::Error::other("the child was reaped elsewhere"))?;
        let state = Mutex::new(ProcessState::Held(child));
        let opened = match pidfd_open(pid, PidfdFlags::NONBLOCK) {
            Ok(pidfd) => Pidfd::new(pidfd).map(Some),
            Err(Errno::NOSYS | Errno::PERM) => Ok(None),
            Err(error) => Err(error.into()),
        };
        match opened {
            Ok(pidfd_watcher) => Ok(Self { pid, containment, pidfd_watcher, state, server: OnceLock::new() }),
            Err(error) => {
                send_signal(containment, pid, StopSignal::Kill);
                Err(error)
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().cast_unsigned()
    }

    /// Returns the pid of the server itself; `None` before its supervisor has started it, or if it was never located.
    pub(crate) fn server_id(&self) -> Option<u32> {
        match self.containment {
            Containment::ProcessGroup => Some(self.id()),
            Containment::Supervisor => {
                self.locate_server();
                self.server.get().map(|server| server.pid.as_raw_nonzero().get().cast_unsigned())
            }
        }
    }

    /// Locates the server below its supervisor. Cheap once it is found.
    pub(crate) fn locate_server(&self) {
        if self.containment == Containment::Supervisor && self.server.get().is_none() {
            let state = self.state.lock();
            if let (ProcessState::Held(_), Some(found)) = (&*state, process_tree::oldest_child(self.pid)) {
                self.server.get_or_init(|| found);
            }
        }
    }

    /// Kills a supervisor that does not exit, and everything below it.
    pub(crate) fn force_kill(&self) {
        let state = self.state.lock();
        if matches!(*state, ProcessState::Held(_)) && self.containment == Containment::Supervisor {
            let _ = kill_process(self.pid, Signal::KILL);
            process_tree::kill_orphans(self.pid, self.server.get().copied());
        }
    }

    pub(crate) fn containment(&self) -> Containment {
        self.containment
    }

    /// Reaps the process if it has exited.
    pub(crate) fn reap(&self) -> Option<ProcessExit> {
        let mut state = self.state.lock();
        match &mut *state {
            ProcessState::Reaped(status) => Some(*status),
            ProcessState::Released => self.has_exited_after_release().then(ProcessExit::default),
            ProcessState::Held(child) => {
                if !self.has_exited() {
                    return None;
                }
                match self.containment {
                    // The rest of its group ends with it.
                    Containment::ProcessGroup => _ = kill_process_group(self.pid, Signal::KILL),
                    // A supervisor that exited by itself has left nothing; a killed one may have left descendants.
                    Containment::Supervisor if self.was_killed() => {
                        process_tree::kill_orphans(self.pid, self.server.get().copied());
                    }
                    Containment::Supervisor => {}
                }
                let status = match child.try_wait() {
                    Ok(Some(status)) => process_exit(status),
                    Ok(None) => return None,
                    // Reaped elsewhere; it has certainly exited.
                    Err(_) => ProcessExit::default(),
                };
                *state = ProcessState::Reaped(status);
                Some(status)
            }
        }
    }

    /// Kills the process and leaves reaping to tokio. Needs no runtime itself.
    pub(crate) fn kill_and_release(&self) {
        self.signal(StopSignal::Kill);
        if self.reap().is_none() {
            // Dropping the child hands it to tokio's list of orphans.
            let child = std::mem::replace(&mut *self.state.lock(), ProcessState::Released);
            drop(child);
        }
    }

    /// Leaves stopping to the supervisor, and reaping to tokio or to init. Returns false without a supervisor.
    pub(crate) fn detach(&self) -> bool {
        if self.containment == Containment::ProcessGroup {
            return false;
        }
        let mut state = self.state.lock();
        if matches!(*state, ProcessState::Held(_)) {
            for signal in [supervisor::STOP_ALONE, Signal::CONT] {
                // It may have exited meanwhile.
                let _ = kill_process(self.pid, signal);
            }
            *state = ProcessState::Released;
        }
        true
    }

    /// Returns whether it has exited and can be reaped, without reaping it.
    fn has_exited(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.pid), options), Ok(None))
    }

    /// Returns whether an unreaped process was killed by a signal. A supervisor also ends that way when its server did.
    fn was_killed(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(self.pid), options)
            .is_ok_and(|status| status.is_some_and(|status| !status.exited()))
    }

    /// Returns whether a released process has exited.
    fn has_exited_after_release(&self) -> bool {
        self.pidfd_watcher.as_ref().map_or_else(|| self.has_exited(), Pidfd::has_exited)
    }

    /// Waits until it may have exited. Returns false when the runtime is shutting down.
    async fn wait_for_exit_event(&self) -> bool {
        match &self.pidfd_watcher {
            Some(pidfd_watcher) => match pidfd_watcher.wait().await {
                PidfdWait::Exited => {
                    // A debugger may delay reaping. The pidfd stays ready until then.
                    if self.reap().is_none() {
                        tokio::time::sleep(POLL_INTERVAL).await;
                    }
                    true
                }
                PidfdWait::RuntimeStopped => false,
            },
            None => match signal(SignalKind::child()) {
                Ok(mut ended) => {
                    // It may have exited before the signal handler was registered.
                    self.reap().is_some() || ended.recv().await.is_some()
                }
                Err(_) => {
                    tokio::time::sleep(POLL_INTERVAL).await;
                    true
                }
            },
        }
    }
}

impl Stoppable for Process {
    fn signal(&self, stop_signal: StopSignal) {
        let state = self.state.lock();
        if matches!(*state, ProcessState::Held(_)) {
            send_signal(self.containment, self.pid, stop_signal);
        }
    }

    fn exited(&self) -> BoxFuture<'_, ProcessExit> {
        Box::pin(async move {
            loop {
                if let Some(status) = self.reap() {
                    return status;
                }
                // The runtime will report nothing more.
                if !self.wait_for_exit_event().await {
                    return ProcessExit::default();
                }
            }
        })
    }
}

/// Signals a process that is not reaped, so that its pid is valid.
fn send_signal(containment: Containment, pid: Pid, stop_signal: StopSignal) {
    // A stopped process handles TERM only after it continues.
    let signals: &[Signal] = match (containment, stop_signal) {
        (_, StopSignal::Term) => &[Signal::TERM, Signal::CONT],
        (Containment::Supervisor, StopSignal::Kill) => &[supervisor::KILL_NOW, Signal::CONT],
        (Containment::ProcessGroup, StopSignal::Kill) => &[Signal::KILL],
    };
    for &signal in signals {
        // It may have exited meanwhile.
        let _ = match containment {
            Containment::ProcessGroup => kill_process_group(pid, signal),
            Containment::Supervisor => kill_process(pid, signal),
        };
    }
}

fn process_exit(status: ExitStatus) -> ProcessExit {
    ProcessExit { code: status.code(), signal: status.signal() }
}
