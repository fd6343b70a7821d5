//! Rules for notifications, passed in by the protocol layer: the mux itself knows no method name.

use switchboard_protocol::RequestId;

use crate::link::InboundNotification;

/// The rules of a protocol for notifications.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoteRules {
    /// Returns the owner of a notification, and how it is queued.
    pub(crate) classify: fn(&InboundNotification) -> NoteClass,
    /// Makes the notification that cancels a request of ours.
    pub(crate) cancel: fn(&RequestId) -> CancelNote,
}

/// The owner and the queueing of a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoteClass {
    pub(crate) owner: NoteOwner,
    pub(crate) kind: NoteKind,
}

/// The owner of a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoteOwner {
    /// The request with this id; the notification is dropped when that request has ended.
    Request(RequestId),
    /// The listener with this id, if there is one. Otherwise the id is the peer's own, and the notification has no owner.
    Listener(RequestId),
    /// No request; but if exactly one call is in flight, that gets a copy.
    ObservedByCall,
    /// No request: the notification goes to the inbound queue.
    All,
}

/// How a notification is queued for its exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoteKind {
    /// In order, up to a bound.
    Ordered,
    /// Replaces the previous notification of this kind if that was queued last.
    LatestOnly,
    /// Ends a listener; not delivered to other requests.
    EndsListener,
}

/// The notification that cancels a request.
#[derive(Debug)]
pub(crate) struct CancelNote {
    pub(crate) method: &'static str,
    /// The text of a JSON object.
    pub(crate) params: Vec<u8>,
}
