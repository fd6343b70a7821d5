//! Streams of a server's changes: changed lists, updated resources, log messages.
//!
//! One ordered, bounded lane for each who listens: one that falls behind misses the oldest, and is told how many.

use parking_lot::Mutex;
use switchboard_protocol::{FromRaw, ListenFilter, LogMessage, Raw};
use tokio::sync::broadcast;
use tokio::task::AbortHandle;

use crate::client::subscriptions::ResourceSubscriptions;
use crate::link::Note;

/// How many changes may wait for one listener.
pub(crate) const CHANNEL_CAPACITY: usize = 1024;

/// One thing a server told.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools is another; what was kept of it is forgotten.
    Tools,
    /// The list of prompts is another.
    Prompts,
    /// The list of resources or templates is another.
    Resources,
    /// A resource that was subscribed to has changed.
    Resource {
        /// Which; may be a part of the one subscribed to.
        uri: String,
    },
    /// A log message.
    Log(LogMessage),
    /// The state of a task, as the server tells it.
    Task(Raw),
    /// A step the user took elsewhere is done (2025-11-25).
    ElicitationDone {
        /// Which.
        id: String,
    },
    /// The server ended the subscription.
    Ended,
    /// Anything else.
    Other {
        /// The method.
        method: String,
        /// The parameters.
        params: Option<Raw>,
    },
    /// This many were missed, because they came faster than they were taken.
    Missed(u64),
}

impl Change {
    pub(crate) fn read(note: Note) -> Self {
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

/// Where changes are told: to everybody who takes them, until the session is over.
#[derive(Debug)]
pub(crate) struct Hub {
    state: Mutex<HubState>,
}

#[derive(Debug)]
enum HubState {
    /// Nobody has ever listened: the lane is large, and made for the first who does.
    Unused,
    Open(broadcast::Sender<Change>),
    /// Nothing more will come.
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
            // Nobody may be listening, and that is fine.
            let _ = sender.send(change);
        }
    }

    /// Says that nothing more will come.
    pub(crate) fn close(&self) {
        *self.state.lock() = HubState::Closed;
    }
}

/// A stream of the server's changes, from now on.
#[derive(Debug)]
pub struct ChangeStream {
    pub(crate) receiver: broadcast::Receiver<Change>,
}

impl ChangeStream {
    /// The next change, or `None` when the session is over.
    pub async fn next(&mut self) -> Option<Change> {
        match self.receiver.recv().await {
            Ok(change) => Some(change),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(Change::Missed(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// A subscription. Dropping it ends it.
#[derive(Debug)]
pub struct Subscription {
    pub(crate) changes: ChangeStream,
    pub(crate) accepted: ListenFilter,
    pub(crate) guard: SubscriptionGuard,
}

/// What ends a subscription when it is dropped, and whose changes it sees.
#[derive(Debug)]
pub(crate) enum SubscriptionGuard {
    /// The task that holds the exchange: a stream of its own.
    Exchange(AbortHandle),
    /// Subscriptions to take back; the changes are those of the whole session.
    Resources(#[expect(dead_code, reason = "held for what its drop does")] ResourceSubscriptions),
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        if let Self::Exchange(task) = self {
            task.abort();
        }
    }
}

impl Subscription {
    /// The next change that was asked for, or `None` when the subscription or the session is over.
    pub async fn next(&mut self) -> Option<Change> {
        loop {
            let change = self.changes.next().await?;
            if matches!(self.guard, SubscriptionGuard::Exchange(_)) || self.matches(&change) {
                return Some(change);
            }
        }
    }

    /// What the server agreed to tell.
    pub fn accepted(&self) -> &ListenFilter {
        &self.accepted
    }

    fn matches(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.accepted.tools_list_changed,
            Change::Prompts => self.accepted.prompts_list_changed,
            Change::Resources => self.accepted.resources_list_changed,
            // It may be a part of the one subscribed to.
            Change::Resource { uri } => {
                self.accepted.resource_subscriptions.iter().any(|asked| uri.starts_with(asked.as_str()))
            }
            Change::Task(_) => !self.accepted.task_ids.is_empty(),
            Change::Missed(_) => true,
            _ => false,
        }
    }
}
