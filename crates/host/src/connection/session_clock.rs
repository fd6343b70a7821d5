//! Measures how long sessions with servers last.

use std::borrow::Cow;
use std::time::Instant;

use crate::slot::{ServerAttributes, Slot};
use crate::status::{ConnectionError, call_error_type};

/// The time since a session was opened. Reports it as a `tracing` event when it is dropped, by the names of the OpenTelemetry
/// conventions.
pub(super) struct SessionClock {
    at: Instant,
    server: ServerAttributes,
    /// Why the session was lost.
    error_type: Option<Cow<'static, str>>,
}

impl SessionClock {
    /// Starts the clock of the session that a slot has now; `None` while no subscriber wants the event.
    pub(super) fn start(slot: &Slot) -> Option<Self> {
        let is_enabled = tracing::enabled!(target: "mcp.session", tracing::Level::DEBUG);
        is_enabled.then(|| Self { at: Instant::now(), server: ServerAttributes::of(slot), error_type: None })
    }

    /// Notes why the session is over; nothing if the host ends it.
    pub(super) fn note_failure(&mut self, failure: Option<&ConnectionError>) {
        self.error_type = failure.map(|failure| match failure {
            ConnectionError::Session(error) | ConnectionError::StartupTimedOut { error, .. } => {
                call_error_type(error)
            }
            _ => "other".into(),
        });
    }
}

impl Drop for SessionClock {
    fn drop(&mut self) {
        let ServerAttributes { transport, protocol, address, port, revision } = &self.server;
        tracing::debug!(
            target: "mcp.session",
            {
                otel.kind = "client",
                mcp.protocol.version = *revision,
                network.transport = *transport,
                network.protocol.name = *protocol,
                server.address = address.as_deref(),
                server.port = *port,
                "error.type" = self.error_type.as_deref(),
                duration_s = self.at.elapsed().as_secs_f64(),
            },
            "session ended"
        );
    }
}
