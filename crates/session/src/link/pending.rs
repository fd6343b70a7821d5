//! An exchange that shares a connection with others: its state is in a table, keyed by its request id.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use switchboard_protocol::RequestId;

use crate::link::{ExchangeEvent, LinkError};

/// The table of the exchanges that share one connection.
pub(crate) trait ExchangeTable: fmt::Debug + Send + Sync {
    /// Polls for the next event of a request, and removes the request with its response.
    fn poll_event(&self, id: &RequestId, cx: &mut Context<'_>) -> Poll<Result<ExchangeEvent, LinkError>>;

    /// Removes a request that nobody waits for any more, and cancels it where that is allowed.
    fn abandon(&self, id: &RequestId);
}

/// One request in flight on a shared connection. Dropping it cancels the request.
#[derive(Debug)]
pub struct Pending {
    table: Arc<dyn ExchangeTable>,
    state: PendingState,
}

/// The state of a [`Pending`] exchange.
#[derive(Debug)]
enum PendingState {
    Refused(LinkError),
    Waiting(RequestId),
    Over,
}

impl Pending {
    /// Creates the exchange of a request that was inserted under this id, or the error that prevented it.
    pub(crate) fn new(table: Arc<dyn ExchangeTable>, inserted: Result<RequestId, LinkError>) -> Self {
        let state = match inserted {
            Ok(id) => PendingState::Waiting(id),
            Err(error) => PendingState::Refused(error),
        };
        Self { table, state }
    }

    /// Returns the id of the request while it waits for its response.
    #[cfg(feature = "server")]
    pub(crate) fn request_id(&self) -> Option<&RequestId> {
        match &self.state {
            PendingState::Waiting(id) => Some(id),
            PendingState::Refused(_) | PendingState::Over => None,
        }
    }

    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<ExchangeEvent, LinkError>> {
        let polled = match &self.state {
            PendingState::Waiting(id) => self.table.poll_event(id, cx),
            PendingState::Refused(error) => Poll::Ready(Err(error.clone())),
            PendingState::Over => Poll::Ready(Err(LinkError::Closed)),
        };
        if matches!(polled, Poll::Ready(Ok(ExchangeEvent::Done(_)) | Err(_))) {
            self.state = PendingState::Over;
        }
        polled
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let PendingState::Waiting(id) = &self.state {
            self.table.abandon(id);
        }
    }
}
