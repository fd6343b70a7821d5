//! What happens in a host, for whoever wants to know. A by-product: nothing waits for it.

use std::sync::Arc;

use switchboard_session::client::Change;
use tokio::sync::broadcast;

use crate::status::Status;

/// How many events may wait for one listener; the oldest give way.
const LANE: usize = 1024;

/// Something that happened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A server is doing otherwise than before.
    Status {
        /// Which.
        server: Arc<str>,
        /// How it is now.
        status: Status,
    },
    /// The catalogue has other tools.
    Tools(Arc<ToolsChanged>),
    /// The definition of a tool is not the one that was pinned.
    Drift(Drift),
    /// Rules that match no tool of their server: likely misspelt.
    IdleRules {
        /// The server.
        server: Arc<str>,
        /// The rules.
        rules: Vec<Arc<str>>,
    },
    /// A server told something.
    Told {
        /// Which.
        server: Arc<str>,
        /// What.
        change: Change,
    },
    /// This many events were missed, because they came faster than they were taken.
    Missed(u64),
}

/// A tool whose definition is not the pinned one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drift {
    /// Its server.
    pub server: Arc<str>,
    /// Its name there.
    pub tool: String,
}

/// How the catalogue changed, for one server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolsChanged {
    /// The first snapshot that shows it.
    pub revision: u64,
    /// The server.
    pub server: Arc<str>,
    /// Names that are new.
    pub added: Vec<Arc<str>>,
    /// Names that are gone.
    pub removed: Vec<Arc<str>>,
    /// Names whose definition is another.
    pub changed: Vec<Arc<str>>,
}

/// The events from now on.
#[derive(Debug)]
pub struct Events {
    lane: broadcast::Receiver<Event>,
}

impl Events {
    /// The next event, or `None` when the host is gone.
    pub async fn next(&mut self) -> Option<Event> {
        match self.lane.recv().await {
            Ok(event) => Some(event),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(Event::Missed(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// Where events are told.
#[derive(Clone, Debug)]
pub(crate) struct Announcer {
    lane: broadcast::Sender<Event>,
}

impl Announcer {
    pub(crate) fn new() -> Self {
        Self { lane: broadcast::Sender::new(LANE) }
    }

    pub(crate) fn tell(&self, event: Event) {
        // Nobody may be listening, and that is fine.
        let _ = self.lane.send(event);
    }

    pub(crate) fn listen(&self) -> Events {
        Events { lane: self.lane.subscribe() }
    }
}
