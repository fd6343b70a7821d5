//! Measures how long sessions of clients last.
//!
//! Invariant: a session that was opened here is reported once, when it ends or is dropped; one that was restored from a store,
//! and may be open elsewhere, is not.

use std::time::Instant;

use parking_lot::Mutex;
use switchboard_protocol::Revision;

/// The time since a session was opened. Reports it as a `tracing` event, by the names of the OpenTelemetry conventions.
#[derive(Default)]
pub(super) struct SessionClock(Mutex<Option<OpenedSession>>);

struct OpenedSession {
    at: Instant,
    revision: Revision,
    is_piped: bool,
}

impl SessionClock {
    /// Starts the clock of a session over a pipe, or else over HTTP.
    pub(super) fn start(&self, revision: Revision, is_piped: bool) {
        *self.0.lock() = Some(OpenedSession { at: Instant::now(), revision, is_piped });
    }

    /// Reports the duration, if the clock runs.
    pub(super) fn stop(&self) {
        let Some(OpenedSession { at, revision, is_piped }) = self.0.lock().take() else { return };
        tracing::debug!(
            target: "mcp.session",
            {
                otel.kind = "server",
                mcp.protocol.version = revision.as_str(),
                network.transport = if is_piped { "pipe" } else { "tcp" },
                network.protocol.name = (!is_piped).then_some("http"),
                duration_s = at.elapsed().as_secs_f64(),
            },
            "session ended"
        );
    }
}

impl Drop for SessionClock {
    fn drop(&mut self) {
        self.stop();
    }
}
