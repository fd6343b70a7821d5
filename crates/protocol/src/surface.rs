//! The surface table: every request and notification with its revisions, direction and required capability.
//!
//! Data only; the session decides how to react to a method that does not exist.

use crate::revision::Revision;
use Direction::{Both, ClientToServer as ToServer, ServerToClient as ToClient};
use MessageKind::{Notification, Request};
use Revision::{
    V2024_11_05 as R1, V2025_03_26 as R2, V2025_06_18 as R3, V2025_11_25 as R4, V2026_07_28 as R5,
};

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// Expects a result or an error.
    Request,
    /// Expects no response.
    Notification,
}

/// One of the two peers of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Peer {
    /// The peer that connects.
    Client,
    /// The peer that offers tools, resources and prompts.
    Server,
}

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From client to server.
    ClientToServer,
    /// From server to client.
    ServerToClient,
    /// Both directions.
    Both,
}

impl Direction {
    /// Returns whether this direction includes `other`.
    pub fn covers(self, other: Self) -> bool {
        self == Both || self == other
    }

    /// Returns whether `peer` may send messages in this direction.
    pub fn sent_by(self, peer: Peer) -> bool {
        match peer {
            Peer::Client => self.covers(ToServer),
            Peer::Server => self.covers(ToClient),
        }
    }
}

/// The part of the protocol that defines a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MethodOrigin {
    /// A message of the core protocol.
    Core,
    /// A message of the extension with this id.
    Extension(&'static str),
    /// Not a message: only a value in the `inputRequests` of a result.
    InputRequests,
}

/// The peer that must have declared a required capability, with the path of the capability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequiredCapability {
    /// The client must have declared it.
    ByClient(&'static str),
    /// The server must have declared it.
    ByServer(&'static str),
    /// The receiver of the request must have declared it.
    ByReceiver(&'static str),
}

/// One row of the table: a method in a range of revisions. A method has several rows if its properties changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The method name on the wire.
    pub method: &'static str,
    /// Request or notification.
    pub kind: MessageKind,
    /// The direction.
    pub direction: Direction,
    /// The first revision of this row.
    pub first: Revision,
    /// The last revision of this row; `None` while no revision ended it.
    pub last: Option<Revision>,
    /// The part of the protocol that defines it.
    pub origin: MethodOrigin,
    /// The required capability, as a dotted path into the capabilities object.
    pub needs: Option<RequiredCapability>,
}

impl Row {
    /// Returns whether this row applies to `revision`.
    pub fn covers(&self, revision: Revision) -> bool {
        self.first <= revision && self.last.is_none_or(|last| revision <= last)
    }
}

/// The id of the tasks extension.
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Creates a row that applies from `first` on, including future revisions unless [`Row::until`] limits it.
const fn row(method: &'static str, kind: MessageKind, direction: Direction, first: Revision) -> Row {
    Row { method, kind, direction, first, last: None, origin: MethodOrigin::Core, needs: None }
}

impl Row {
    const fn until(mut self, last: Revision) -> Self {
        self.last = Some(last);
        self
    }

    const fn client(mut self, capability: &'static str) -> Self {
        self.needs = Some(RequiredCapability::ByClient(capability));
        self
    }

    const fn server(mut self, capability: &'static str) -> Self {
        self.needs = Some(RequiredCapability::ByServer(capability));
        self
    }

    const fn receiver(mut self, capability: &'static str) -> Self {
        self.needs = Some(RequiredCapability::ByReceiver(capability));
        self
    }

    const fn inside_input_requests(mut self) -> Self {
        self.origin = MethodOrigin::InputRequests;
        self
    }

    const fn of_tasks_extension(mut self) -> Self {
        self.origin = MethodOrigin::Extension(TASKS_EXTENSION);
        self
    }
}

/// The surface table.
pub const SURFACE: &[Row] = &[
    row("initialize", Request, ToServer, R1).until(R4),
    row("ping", Request, Both, R1).until(R4),
    row("server/discover", Request, ToServer, R5),
    row("tools/list", Request, ToServer, R1).server("tools"),
    row("tools/call", Request, ToServer, R1).server("tools"),
    row("resources/list", Request, ToServer, R1).server("resources"),
    row("resources/templates/list", Request, ToServer, R1).server("resources"),
    row("resources/read", Request, ToServer, R1).server("resources"),
    row("resources/subscribe", Request, ToServer, R1).until(R4).server("resources.subscribe"),
    row("resources/unsubscribe", Request, ToServer, R1).until(R4).server("resources.subscribe"),
    row("subscriptions/listen", Request, ToServer, R5),
    row("prompts/list", Request, ToServer, R1).server("prompts"),
    row("prompts/get", Request, ToServer, R1).server("prompts"),
    // The method is older than its capability.
    row("completion/complete", Request, ToServer, R1).until(R1),
    row("completion/complete", Request, ToServer, R2).server("completions"),
    row("logging/setLevel", Request, ToServer, R1).until(R4).server("logging"),
    row("tasks/get", Request, Both, R4).until(R4).receiver("tasks"),
    row("tasks/result", Request, Both, R4).until(R4).receiver("tasks"),
    row("tasks/cancel", Request, Both, R4).until(R4).receiver("tasks.cancel"),
    row("tasks/list", Request, Both, R4).until(R4).receiver("tasks.list"),
    row("tasks/get", Request, ToServer, R5).of_tasks_extension(),
    row("tasks/update", Request, ToServer, R5).of_tasks_extension(),
    row("tasks/cancel", Request, ToServer, R5).of_tasks_extension(),
    row("sampling/createMessage", Request, ToClient, R1).until(R4).client("sampling"),
    row("sampling/createMessage", Request, ToClient, R5).client("sampling").inside_input_requests(),
    row("roots/list", Request, ToClient, R1).until(R4).client("roots"),
    row("roots/list", Request, ToClient, R5).client("roots").inside_input_requests(),
    row("elicitation/create", Request, ToClient, R3).until(R4).client("elicitation"),
    row("elicitation/create", Request, ToClient, R5).client("elicitation").inside_input_requests(),
    row("notifications/initialized", Notification, ToServer, R1).until(R4),
    row("notifications/roots/list_changed", Notification, ToServer, R1).until(R4).client("roots.listChanged"),
    row("notifications/cancelled", Notification, Both, R1),
    row("notifications/progress", Notification, Both, R1).until(R4),
    row("notifications/progress", Notification, ToClient, R5),
    row("notifications/message", Notification, ToClient, R1).server("logging"),
    row("notifications/tools/list_changed", Notification, ToClient, R1).server("tools.listChanged"),
    row("notifications/prompts/list_changed", Notification, ToClient, R1).server("prompts.listChanged"),
    row("notifications/resources/list_changed", Notification, ToClient, R1).server("resources.listChanged"),
    row("notifications/resources/updated", Notification, ToClient, R1).server("resources.subscribe"),
    row("notifications/elicitation/complete", Notification, ToClient, R4).until(R4).client("elicitation.url"),
    row("notifications/tasks/status", Notification, Both, R4).until(R4),
    row("notifications/tasks", Notification, ToClient, R5).of_tasks_extension(),
    row("notifications/subscriptions/acknowledged", Notification, ToClient, R5),
];

/// Returns the rows of a method, oldest first; empty for an unknown method.
pub fn find(method: &str) -> impl Iterator<Item = &'static Row> {
    SURFACE.iter().filter(move |row| row.method == method)
}

/// Returns the row of a method in one revision.
pub fn find_in(method: &str, revision: Revision) -> Option<&'static Row> {
    SURFACE.iter().find(|row| row.method == method && row.covers(revision))
}

/// Returns whether a message with this method may be sent in this direction and revision.
///
/// A method that is allowed only inside `inputRequests` does not exist as a message.
pub fn exists(method: &str, revision: Revision, direction: Direction) -> bool {
    find_in(method, revision)
        .is_some_and(|row| row.origin != MethodOrigin::InputRequests && row.direction.covers(direction))
}

/// Iterates over all combinations of a method, a revision that has it and a peer that may send it.
pub fn all() -> impl Iterator<Item = (&'static str, Revision, Peer)> {
    SURFACE.iter().flat_map(|row| {
        let revisions = Revision::ALL.into_iter().filter(|revision| row.covers(*revision));
        revisions.flat_map(move |revision| {
            let peers = [Peer::Client, Peer::Server].into_iter();
            peers.filter(|peer| row.direction.sent_by(*peer)).map(move |peer| (row.method, revision, peer))
        })
    })
}
