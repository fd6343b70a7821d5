//! Streams of a server's changes: changed lists, updated resources, log messages.
//!
//! Each receiver is ordered and bounded: one that falls behind misses the oldest changes and gets their number.

use parking_lot::Mutex;
use switchboard_protocol::{FromRaw, ListenFilter, LogMessage, Raw};
use tokio::sync::broadcast;
use tokio::task::AbortHandle;

use crate::client::subscriptions::ResourceSubscriptions;
use crate::link::InboundNotification;

/// Changes that may wait for one receiver.
pub(crate) const CHANNEL_CAPACITY: usize = 1024;

/// One change that a server announced.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools has changed; the cached list is invalid.
    Tools,
    /// The list of prompts has changed.
    Prompts,
    /// The list of resources or templates has changed.
    Resources,
    /// A resource that was subscribed to has changed.
    Resource {
        /// Its URI; may be a sub-resource of the one subscribed to.
        uri: String,
    },
    /// A log message.
    Log(LogMessage),
    /// The state of a task, as the server sent it.
    Task(Raw),
    /// The user has completed a URL elicitation (2025-11-25).
    ElicitationDone {
        /// The id of the elicitation.
        id: String,
    },
    /// The server ended the subscription.
    Ended,
    /// Any other notification.
    Other {
        /// The method.
        method: String,
        /// The parameters.
        params: Option<Raw>,
    },
    /// This many changes were dropped, because they arrived faster than they were received.
    Missed(u64),
}

impl Change {
    pub(crate) fn read(note: InboundNotification) -> Self {
        let text = |name| note.param(name)?.decode::<String>().ok();
        let read = match &*note.method {
            "notifications/tools/list_changed" => Some(Self::Tools),
            "notifications/prompts/list_changed" => Some(Self::Prompts),
            "notifications/resources/list_changed" => Some(Self::Resources),
            "notifications/resources/updated" => text("uri").map(|uri| Self::Resource { uri }),
            "notifications/message" => {
                note.params.as_ref().and_then(|params| LogMessage::from_raw(params).ok()).map(Self::Log)
            }
            "notifications/tasks/status" | "notifications/tasks" => note.params.clone().map(Self::Task),
            "notifications/elicitation/complete" => {
                text("elicitationId").map(|id| Self::ElicitationDone { id })
            }
            _ => None,
        };
        read.unwrap_or_else(|| Self::Other { method: note.method.to_string(), params: note.params })
    }
}

/// Broadcasts the changes of a session to all receivers, until the session ends.
#[derive(Debug)]
pub(crate) struct Hub {
    state: Mutex<HubState>,
}

/// The broadcast channel of a [`Hub`].
#[derive(Debug)]
enum HubState {
    /// There was no receiver yet: the channel is large, and created for the first one.
    Unused,
    Open(broadcast::Sender<Change>),
    /// The session has ended.
    Closed,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(HubState::Unused) }
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Change> {
        let mut state = self.state.lock();
        match &*state {
            HubState::Unused => {
                let (sender, receiver) = broadcast::channel(CHANNEL_CAPACITY);
                *state = HubState::Open(sender);
                receiver
            }
            HubState::Open(sender) => sender.subscribe(),
            // The receiver ends at once.
            HubState::Closed => broadcast::channel(1).1,
        }
    }

    pub(crate) fn publish(&self, change: Change) {
        if let HubState::Open(sender) = &*self.state.lock() {
            // There may be no receiver.
            let _ = sender.send(change);
        }
    }

    /// Ends the stream of every receiver.
    pub(crate) fn close(&self) {
        *self.state.lock() = HubState::Closed;
    }
}

/// A stream of the server's changes, from now on.
///
/// ```
/// use switchboard::client::{Change, RevisionPolicy};
/// use switchboard::{Client, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// # let server = demo::server();
/// let client = Client::new().with_revisions(RevisionPolicy::LegacyOnly);
/// let session = client.connect(InProcess::new(&server)).await?;
/// let mut changes = session.changes()?;
/// server.publisher().tools_changed(); // on the other side
/// assert!(matches!(changes.next().await, Some(Change::Tools)));
/// # demo::done() });
/// ```
#[derive(Debug)]
pub struct ChangeStream {
    pub(crate) receiver: broadcast::Receiver<Change>,
}

impl ChangeStream {
    /// Returns the next change, or `None` when the session has ended.
    pub async fn next(&mut self) -> Option<Change> {
        match self.receiver.recv().await {
            Ok(change) => Some(change),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(Change::Missed(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// A subscription. Dropping it ends it.
///
/// ```
/// use switchboard::protocol::ListenFilter;
/// use switchboard::{Client, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
/// let filter = ListenFilter::new().with_tools_list_changed(true).with_prompts_list_changed(true);
/// let subscription = session.listen(filter).await?;
/// assert!(subscription.accepted().tools_list_changed);
/// assert!(!subscription.accepted().prompts_list_changed); // the server does not announce these
/// drop(subscription); // ends it
/// # demo::done() });
/// ```
#[derive(Debug)]
pub struct Subscription {
    pub(crate) changes: ChangeStream,
    pub(crate) accepted: ListenFilter,
    pub(crate) guard: SubscriptionGuard,
}

/// Ends a subscription when it is dropped.
#[derive(Debug)]
pub(crate) enum SubscriptionGuard {
    /// The task that reads the exchange of a listen stream.
    Exchange(AbortHandle),
    /// Resource subscriptions to end; the stream carries the changes of the whole session.
    Resources(#[expect(dead_code, reason = "held for its drop")] ResourceSubscriptions),
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        if let Self::Exchange(task) = self {
            task.abort();
        }
    }
}

impl Subscription {
    /// Returns the next change that matches the filter, or `None` when the subscription or the session has ended.
    pub async fn next(&mut self) -> Option<Change> {
        loop {
            let change = self.changes.next().await?;
            if matches!(self.guard, SubscriptionGuard::Exchange(_)) || self.matches(&change) {
                return Some(change);
            }
        }
    }

    /// Returns the part of the filter that the server accepted.
    pub fn accepted(&self) -> &ListenFilter {
        &self.accepted
    }

    fn matches(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.accepted.tools_list_changed,
            Change::Prompts => self.accepted.prompts_list_changed,
            Change::Resources => self.accepted.resources_list_changed,
            // It may be a sub-resource of the one subscribed to.
            Change::Resource { uri } => {
                self.accepted.resource_subscriptions.iter().any(|asked| uri.starts_with(asked.as_str()))
            }
            Change::Task(_) => !self.accepted.task_ids.is_empty(),
            Change::Missed(_) => true,
            _ => false,
        }
    }
}
