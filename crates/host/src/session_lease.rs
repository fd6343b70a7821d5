//! Leases of sessions: one open session with a server, kept from being stopped as idle.

use switchboard_protocol::Level;
use switchboard_session::ClientSession;

use crate::session_scope::SessionKey;
use crate::slot::SlotUse;

/// One open session with a server. While a lease is held, the session is not stopped as idle; it may still end with its
/// connection. See [`Host::lease`](crate::Host::lease).
#[derive(Clone)]
pub struct SessionLease {
    pub(crate) slot: SlotUse,
    pub(crate) session: ClientSession,
}

impl SessionLease {
    /// Returns the session.
    pub fn session(&self) -> &ClientSession {
        &self.session
    }

    /// Returns the key of the session; `None` for the main one.
    pub fn key(&self) -> Option<SessionKey> {
        self.slot.scope.as_ref().map(|scope| scope.key)
    }

    /// Requests log messages of this level, unless the session was asked for them before. A server that refuses is not asked
    /// again.
    pub async fn ensure_log_level(&self, level: Level) {
        let offers = self.session.info().is_ok_and(|info| info.capabilities.logging.is_some());
        if offers
            && self.slot.lower_log_level(level)
            && let Err(error) = self.session.set_log_level(level).await
        {
            tracing::debug!(server = %self.slot.name, %error, "the log level was not set");
        }
    }
}

impl std::fmt::Debug for SessionLease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionLease")
            .field("server", &self.slot.name)
            .field("session", &self.session.number())
            .finish()
    }
}
