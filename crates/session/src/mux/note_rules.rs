//! Rules about notifications that the protocol above passes in: the mux itself knows no method name.

use switchboard_protocol::RequestId;

use crate::link::Note;

/// The rules of a protocol for notifications.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoteRules {
    /// Says whose a notification of the peer is, and how it is queued.
    pub(crate) classify: fn(&Note) -> NoteClass,
    /// Makes the notification that cancels a request of ours.
    pub(crate) cancel: fn(&RequestId) -> CancelNote,
}

/// What the mux has to know of a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoteClass {
    pub(crate) owner: NoteOwner,
    pub(crate) kind: NoteKind,
}

/// Whose a notification is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoteOwner {
    /// Of the request with this id, and of nobody if that is over.
    Request(RequestId),
    /// Of the listener with this id if there is one. Otherwise the id is the peer's own, and the notification is for all.
    Listener(RequestId),
    /// Of no request.
    All,
}

/// How a notification is queued for its exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoteKind {
    /// In order, up to a bound.
    Ordered,
    /// Replaces the one of this kind that was queued last.
    LatestOnly,
    /// Ends a listener; other requests do not take it.
    EndsListener,
}

/// The notification that cancels a request.
#[derive(Debug)]
pub(crate) struct CancelNote {
    pub(crate) method: &'static str,
    /// The text of a JSON object.
    pub(crate) params: Vec<u8>,
}
