//! Ctrl-C and its kin, as something to wait for.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask this program to end. While this exists they no longer end it by themselves.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// Begins to catch them.
    pub(crate) fn catch() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one and gives its number.
    pub(crate) async fn next(&mut self) -> u8 {
        // The numbers are the same on every system that has these signals.
        tokio::select! {
            _ = self.interrupt.recv() => 2,
            _ = self.terminate.recv() => 15,
            _ = self.hangup.recv() => 1,
        }
    }
}
