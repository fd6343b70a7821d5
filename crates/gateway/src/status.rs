//! The status of a gateway.

use switchboard_host::ServerStatus;

use crate::names::WithheldItem;
use crate::view::ViewWarning;

/// The status of a gateway: a server that has failed is an entry here, never the error of a list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GatewayStatus {
    /// The servers, in configured order.
    pub servers: Vec<ServerStatus>,
    /// Names that are withheld, because several items claim them.
    pub withheld: Vec<WithheldItem>,
    /// Calls that wait for the answer to a question.
    pub parked_calls: usize,
    /// Resources that clients are subscribed to.
    pub subscriptions: usize,
    /// The views, by name.
    pub views: Vec<ViewStatus>,
}

/// The status of a view.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ViewStatus {
    /// The name.
    pub name: String,
    /// Names that are withheld.
    pub withheld: Vec<WithheldItem>,
    /// Parts of its definition that have no effect now.
    pub warnings: Vec<ViewWarning>,
    /// Resources that its clients are subscribed to.
    pub subscriptions: usize,
}
