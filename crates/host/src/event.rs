//! Events of a host. Senders never wait for receivers.

use std::sync::Arc;

use switchboard_session::client::Change;
use tokio::sync::broadcast;

use crate::status::Status;

/// The buffer size of one receiver; the oldest events are dropped.
const BUFFERED_EVENTS: usize = 1024;

/// An event of a host.
///
/// ```
/// use switchboard::host::{HostEvent, StatusKind};
/// use switchboard::{Host, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::new();
/// let mut events = host.events();
/// host.connect("sums", InProcess::new(&demo::server())).await?;
/// let connected = loop {
///     match events.next().await {
///         Some(HostEvent::Status { server, status }) if status.kind() == StatusKind::Connected => break server,
///         Some(other) => println!("{other:?}"),
///         None => panic!("the host was dropped"),
///     }
/// };
/// assert_eq!(&*connected, "sums");
/// # demo::done() });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HostEvent {
    /// The status of a server changed.
    Status {
        /// The server.
        server: Arc<str>,
        /// The new status.
        status: Status,
    },
    /// The tools of the catalog changed.
    Tools(Arc<ToolsChanged>),
    /// The kept prompts of a server changed; see [`Catalog::lists`](crate::Catalog::lists).
    Prompts {
        /// The server.
        server: Arc<str>,
    },
    /// The kept resources or resource templates of a server changed; see [`Catalog::lists`](crate::Catalog::lists).
    Resources {
        /// The server.
        server: Arc<str>,
    },
    /// A server announced a change of its tools, prompts or resources, and the list that was fetched then is the same.
    UnchangedList {
        /// The server.
        server: Arc<str>,
        /// What it announced.
        change: Change,
    },
    /// The definition of a tool differs from the pinned one.
    Drift(Drift),
    /// Rules match no tool of their server; they are probably misspelled.
    UnmatchedRules {
        /// The server.
        server: Arc<str>,
        /// The rules.
        rules: Vec<Arc<str>>,
    },
    /// A server sent a change notification.
    ServerChange {
        /// The server.
        server: Arc<str>,
        /// The [number](switchboard_session::ClientSession::number) of the session in which it was sent.
        session: u64,
        /// The change.
        change: Change,
    },
    /// This many events were dropped because the receiver was too slow.
    Missed(u64),
}

/// A tool whose definition differs from the pinned one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drift {
    /// The server.
    pub server: Arc<str>,
    /// The name of the tool on the server.
    pub tool: String,
}

/// A change of the catalog for one server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolsChanged {
    /// The revision of the first snapshot with the change.
    pub revision: u64,
    /// The server.
    pub server: Arc<str>,
    /// Names of new tools.
    pub added: Vec<Arc<str>>,
    /// Names of removed tools.
    pub removed: Vec<Arc<str>>,
    /// Names of tools with a changed definition.
    pub changed: Vec<Arc<str>>,
}

/// Receives the events of a host since its creation.
#[derive(Debug)]
pub struct HostEvents {
    receiver: broadcast::Receiver<HostEvent>,
}

impl HostEvents {
    /// Waits for the next event; `None` when the host was dropped.
    pub async fn next(&mut self) -> Option<HostEvent> {
        match self.receiver.recv().await {
            Ok(event) => Some(event),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(HostEvent::Missed(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// Sends events to all receivers.
#[derive(Clone, Debug)]
pub(crate) struct EventSender {
    sender: broadcast::Sender<HostEvent>,
}

impl EventSender {
    pub(crate) fn new() -> Self {
        Self { sender: broadcast::Sender::new(BUFFERED_EVENTS) }
    }

    pub(crate) fn send(&self, event: HostEvent) {
        // There may be no receivers.
        let _ = self.sender.send(event);
    }

    pub(crate) fn subscribe(&self) -> HostEvents {
        HostEvents { receiver: self.sender.subscribe() }
    }
}
