//! One child process: waited for, signalled, reaped.
//!
//! Invariants: a number is only signalled while the process behind it is not reaped, under the lock that reaping
//! takes too. A group is killed before its leader is reaped, so its number is still ours; likewise the session of a
//! supervisor that was killed, which is how its server ends even then.

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

use crate::stdio::bell::{Bell, Rung};
use crate::stdio::ladder::{Push, Status, Stoppable};
use crate::stdio::{shim, tree};

/// How often a process is looked at where not even a signal tells that it ended, or that it can be reaped.
const LOOK: Duration = Duration::from_millis(20);

/// Who looks after what the server starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// The shim: the child is the shim, the server is its child, and all descendants end with it.
    Shim,
    /// Only the process group: the child is the server, and a descendant that leaves the group escapes.
    Group,
}

/// One child process.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    guard: Guard,
    /// Tells when it ends. `None` where there are no pidfds (an old kernel, a sandbox): then a signal does, for all.
    bell: Option<Bell>,
    state: Mutex<State>,
    /// The server below a supervisor, once it was seen.
    server: OnceLock<tree::Identity>,
}

#[derive(Debug)]
enum State {
    /// Not reaped: its number and its group are ours.
    Held(Child),
    /// Reaped.
    Over(Status),
    /// Killed, or left to the shim, and handed to the runtime to reap.
    LetGo,
}

impl Process {
    /// Takes over a child that was just started. Must be called inside a runtime.
    pub(crate) fn new(child: Child, guard: Guard) -> io::Result<Self> {
        let pid = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let pid = pid.ok_or_else(|| io::Error::other("the child was reaped by somebody else"))?;
        let state = Mutex::new(State::Held(child));
        let opened = match pidfd_open(pid, PidfdFlags::NONBLOCK) {
            Ok(pidfd) => Bell::new(pidfd).map(Some),
            Err(Errno::NOSYS | Errno::PERM) => Ok(None),
            Err(error) => Err(error.into()),
        };
        match opened {
            Ok(bell) => Ok(Self { pid, guard, bell, state, server: OnceLock::new() }),
            Err(error) => {
                send(guard, pid, Push::Kill);
                Err(error)
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().cast_unsigned()
    }

    /// The number of the server itself; none while its supervisor has not started it, or when nobody looked in time.
    pub(crate) fn server_id(&self) -> Option<u32> {
        match self.guard {
            Guard::Group => Some(self.id()),
            Guard::Shim => {
                self.find_server();
                self.server.get().map(|server| server.pid.as_raw_nonzero().get().cast_unsigned())
            }
        }
    }

    /// Looks for the server below its supervisor. Cheap once it was found.
    pub(crate) fn find_server(&self) {
        if self.guard == Guard::Shim && self.server.get().is_none() {
            let state = self.state.lock();
            if let (State::Held(_), Some(found)) = (&*state, tree::oldest_child(self.pid)) {
                self.server.get_or_init(|| found);
            }
        }
    }

    /// Kills a supervisor that does not end, and everything below it.
    pub(crate) fn force(&self) {
        let state = self.state.lock();
        if matches!(*state, State::Held(_)) && self.guard == Guard::Shim {
            let _ = kill_process(self.pid, Signal::KILL);
            tree::kill_orphans(self.pid, self.server.get().copied());
        }
    }

    pub(crate) fn guard(&self) -> Guard {
        self.guard
    }

    /// Reaps the process if it has ended.
    pub(crate) fn reap(&self) -> Option<Status> {
        let mut state = self.state.lock();
        match &mut *state {
            State::Over(status) => Some(*status),
            State::LetGo => self.has_ended().then(Status::default),
            State::Held(child) => {
                if !self.has_exited() {
                    return None;
                }
                match self.guard {
                    // What it leaves behind in its group ends with it.
                    Guard::Group => _ = kill_process_group(self.pid, Signal::KILL),
                    // One that ended by itself has left nothing. One that was killed could not see to that.
                    Guard::Shim if self.was_killed() => {
                        tree::kill_orphans(self.pid, self.server.get().copied());
                    }
                    Guard::Shim => {}
                }
                let status = match child.try_wait() {
                    Ok(Some(status)) => told(status),
                    Ok(None) => return None,
                    // Somebody else has reaped it; that it ended is certain.
                    Err(_) => Status::default(),
                };
                *state = State::Over(status);
                Some(status)
            }
        }
    }

    /// Kills it and leaves the reaping to the runtime. Needs no runtime itself.
    pub(crate) fn let_go(&self) {
        self.push(Push::Kill);
        if self.reap().is_none() {
            // Dropping the child hands it to tokio's list of orphans.
            let child = std::mem::replace(&mut *self.state.lock(), State::LetGo);
            drop(child);
        }
    }

    /// Leaves stopping it to the shim, and the reaping to the runtime or whoever comes after us. False without a shim.
    pub(crate) fn detach(&self) -> bool {
        if self.guard == Guard::Group {
            return false;
        }
        let mut state = self.state.lock();
        if matches!(*state, State::Held(_)) {
            for signal in [shim::STOP_ALONE, Signal::CONT] {
                // It may have ended meanwhile; that is what was wanted.
                let _ = kill_process(self.pid, signal);
            }
            *state = State::LetGo;
        }
        true
    }

    /// Whether it waits to be reaped, without reaping it.
    fn has_exited(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(self.pid), look), Ok(None))
    }

    /// Whether a signal ended it, for one that waits to be reaped. A supervisor also ends so when its server did.
    fn was_killed(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(self.pid), look).is_ok_and(|status| status.is_some_and(|status| !status.exited()))
    }

    /// Whether it has ended, for one that the runtime reaps.
    fn has_ended(&self) -> bool {
        self.bell.as_ref().map_or_else(|| self.has_exited(), Bell::has_rung)
    }

    /// Waits until it may have ended. False when the runtime is shutting down.
    async fn stirred(&self) -> bool {
        match &self.bell {
            Some(bell) => match bell.rung().await {
                Rung::Ended => {
                    // A debugger may still hold what has ended. The bell rings on until we may have it.
                    if self.reap().is_none() {
                        tokio::time::sleep(LOOK).await;
                    }
                    true
                }
                Rung::Never => false,
            },
            None => match signal(SignalKind::child()) {
                Ok(mut ended) => {
                    // It may have ended before anybody listened.
                    self.reap().is_some() || ended.recv().await.is_some()
                }
                Err(_) => {
                    tokio::time::sleep(LOOK).await;
                    true
                }
            },
        }
    }
}

impl Stoppable for Process {
    fn push(&self, push: Push) {
        let state = self.state.lock();
        if matches!(*state, State::Held(_)) {
            send(self.guard, self.pid, push);
        }
    }

    fn exited(&self) -> BoxFuture<'_, Status> {
        Box::pin(async move {
            loop {
                if let Some(status) = self.reap() {
                    return status;
                }
                // Nobody will be told more.
                if !self.stirred().await {
                    return Status::default();
                }
            }
        })
    }
}

/// Signals a process that is not reaped: its number is its own.
fn send(guard: Guard, pid: Pid, push: Push) {
    // A stopped process takes TERM only once it continues.
    let signals: &[Signal] = match (guard, push) {
        (_, Push::Term) => &[Signal::TERM, Signal::CONT],
        (Guard::Shim, Push::Kill) => &[shim::KILL_NOW, Signal::CONT],
        (Guard::Group, Push::Kill) => &[Signal::KILL],
    };
    for &signal in signals {
        // It may have ended meanwhile; that is what was wanted.
        let _ = match guard {
            Guard::Group => kill_process_group(pid, signal),
            Guard::Shim => kill_process(pid, signal),
        };
    }
}

fn told(status: ExitStatus) -> Status {
    Status { code: status.code(), signal: status.signal() }
}
