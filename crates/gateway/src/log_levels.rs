//! The log levels of servers: each is asked for the most detailed level that any client of the gateway wants. What reaches a
//! client is filtered by its own level.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_host::Host;
use switchboard_protocol::Level;

/// The levels that were set on the sessions with servers.
#[derive(Default)]
pub(crate) struct LogLevels {
    set: Mutex<HashMap<Arc<str>, Level>>,
}

impl LogLevels {
    /// Asks a server for messages of this level, unless it sends them already. A server that refuses sends fewer messages.
    pub(crate) async fn ensure(&self, host: &Host, server: &Arc<str>, level: Level) {
        if self.set.lock().get(server).is_some_and(|set| *set <= level) {
            return;
        }
        let Ok(session) = host.session(server).await else { return };
        if session.info().is_ok_and(|info| info.capabilities.logging.is_none()) {
            return;
        }
        if let Err(error) = session.set_log_level(level).await {
            tracing::debug!(%server, %error, "the log level was not set");
        }
        // Also after a refusal: it is not asked again for every call.
        self.set.lock().insert(Arc::clone(server), level);
    }

    /// Forgets the level of a server whose session has ended.
    pub(crate) fn forget(&self, server: &str) {
        self.set.lock().remove(server);
    }
}
