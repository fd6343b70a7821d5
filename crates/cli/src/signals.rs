//! Termination signals: Ctrl-C, SIGTERM and SIGHUP.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Receiver of termination signals. While it exists, they do not terminate the process by themselves.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Installs the signal handlers.
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal and returns its number.
    pub(crate) async fn next(&mut self) -> u8 {
        // These numbers are the same on every Unix.
        tokio::select! {
            _ = self.interrupt.recv() => 2,
            _ = self.terminate.recv() => 15,
            _ = self.hangup.recv() => 1,
        }
    }
}
