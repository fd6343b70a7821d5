//! An exchange that shares a connection with others: its state is in a table, found by its request id.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use switchboard_protocol::RequestId;

use crate::link::{Event, LinkError};

/// The table of the exchanges that share one connection.
pub(crate) trait ExchangeTable: fmt::Debug + Send + Sync {
    /// Returns the next event of a request, and removes the request with its answer.
    fn poll_event(&self, id: &RequestId, cx: &mut Context<'_>) -> Poll<Result<Event, LinkError>>;

    /// Removes a request that nobody waits for any more, and cancels it where that is allowed.
    fn abandon(&self, id: &RequestId);
}

/// One request under way on a shared connection. Dropping it cancels the request.
#[derive(Debug)]
pub struct Pending {
    table: Arc<dyn ExchangeTable>,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Refused(LinkError),
    Waiting(RequestId),
    Over,
}

impl Pending {
    /// The request that was entered under this id, or one that could not be.
    pub(crate) fn new(table: Arc<dyn ExchangeTable>, entered: Result<RequestId, LinkError>) -> Self {
        let stage = match entered {
            Ok(id) => Stage::Waiting(id),
            Err(error) => Stage::Refused(error),
        };
        Self { table, stage }
    }

    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Event, LinkError>> {
        let polled = match &self.stage {
            Stage::Waiting(id) => self.table.poll_event(id, cx),
            Stage::Refused(error) => Poll::Ready(Err(error.clone())),
            Stage::Over => Poll::Ready(Err(LinkError::Closed)),
        };
        if matches!(polled, Poll::Ready(Ok(Event::Done(_)) | Err(_))) {
            self.stage = Stage::Over;
        }
        polled
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Stage::Waiting(id) = &self.stage {
            self.table.abandon(id);
        }
    }
}
