//! The table of requests in flight: sent, and awaiting a response.
//!
//! Invariant: an id is in the table iff its [`Pending`] is alive and has not returned its response yet.
//! Ids and raw results only.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use switchboard_protocol::{Raw, RequestId, RpcError};

use crate::link::{
    Counters, ExchangeEvent, ExchangeKind, ExchangeTable, Flush, InboundNotification, LinkError, Outbox,
    Pending, StreamOffset,
};
use crate::mux::{CancelNote, ConnectionLimits, NoteKind, put_note};

type Outcome = Result<Result<Raw, RpcError>, LinkError>;

/// The requests in flight on one connection.
pub(crate) struct Inflight {
    // Held for a lookup or an insert, never across an await.
    table: Mutex<InflightTable>,
    outbox: Arc<Outbox>,
    counters: Arc<Counters>,
    cancel: fn(&RequestId) -> CancelNote,
    max_requests: usize,
    max_notes: usize,
}

#[derive(Default)]
struct InflightTable {
    requests: HashMap<RequestId, InflightRequest, foldhash::fast::FixedState>,
    ended: Option<LinkError>,
}

struct InflightRequest {
    kind: ExchangeKind,
    offset: Option<StreamOffset>,
    waker: Option<Waker>,
    notes: VecDeque<QueuedNote>,
    /// The kind of the notification queued last.
    last_kind: NoteKind,
    outcome: Option<Outcome>,
}

/// A notification that waits for its exchange.
struct QueuedNote {
    note: InboundNotification,
    kind: QueuedKind,
}

/// Whose a queued notification is.
#[derive(Clone, Copy)]
enum QueuedKind {
    /// Of its exchange.
    Own,
    /// The session gets it, too.
    Observed,
    /// The session gets it, too, and so does every other call in flight.
    ObservedByAll,
}

impl InflightTable {
    /// Stores the outcome of a request and returns the waker of its caller; returns the outcome when no request awaits it.
    fn set_outcome(&mut self, id: &RequestId, outcome: Outcome) -> Result<Option<Waker>, Outcome> {
        match self.requests.get_mut(id) {
            Some(request) if request.outcome.is_none() => {
                request.outcome = Some(outcome);
                Ok(request.waker.take())
            }
            _ => Err(outcome),
        }
    }
}

impl Inflight {
    /// Creates an empty table. `cancel` makes the notification that cancels a dropped request.
    pub(crate) fn new(
        outbox: Arc<Outbox>,
        counters: Arc<Counters>,
        limits: &ConnectionLimits,
        cancel: fn(&RequestId) -> CancelNote,
    ) -> Self {
        let (max_requests, max_notes) = (limits.pending, limits.notes);
        Self { table: Mutex::default(), outbox, counters, cancel, max_requests, max_notes }
    }

    /// Inserts a request, then sends it: `put` enqueues the frame and is called with the entry in place.
    pub(crate) fn open(
        self: &Arc<Self>,
        id: RequestId,
        kind: ExchangeKind,
        put: impl FnOnce(&Outbox, &RequestId, Flush) -> Result<StreamOffset, LinkError>,
    ) -> Pending {
        let inserted = self.insert(id.clone(), kind).and_then(|flush| {
            let put = put(&self.outbox, &id, flush);
            let mut table = self.table.lock();
            match put {
                Ok(offset) => {
                    if let Some(request) = table.requests.get_mut(&id) {
                        request.offset = Some(offset);
                    }
                    Ok(())
                }
                Err(error) => {
                    table.requests.remove(&id);
                    Err(error)
                }
            }
        });
        Pending::new(Arc::clone(self) as Arc<dyn ExchangeTable>, inserted.map(|()| id))
    }

    /// Inserts a request, and returns when to flush its frame.
    fn insert(&self, id: RequestId, kind: ExchangeKind) -> Result<Flush, LinkError> {
        let mut table = self.table.lock();
        if let Some(error) = &table.ended {
            return Err(error.clone().unsent());
        }
        if table.requests.len() >= self.max_requests {
            return Err(LinkError::Overloaded { what: "requests under way" });
        }
        let (notes, last_kind) = (VecDeque::new(), NoteKind::Ordered);
        let request = InflightRequest { kind, offset: None, waker: None, notes, last_kind, outcome: None };
        table.requests.insert(id, request);
        // A single request has no others to share a write with: waiting for the flusher would only cost a turn.
        Ok(if table.requests.len() == 1 { Flush::Now } else { Flush::Soon })
    }

    /// Hands a response to its caller.
    pub(crate) fn complete(&self, id: Option<RequestId>, outcome: Outcome) {
        let mut table = self.table.lock();
        let delivered = match &id {
            Some(id) => table.set_outcome(id, outcome),
            None => Err(outcome),
        };
        let delivered = delivered.or_else(|outcome| match self.match_request_id(&table, id, &outcome) {
            Some(id) => table.set_outcome(&id, outcome),
            None => Err(outcome),
        });
        drop(table);
        match delivered {
            Ok(waker) => waker.into_iter().for_each(Waker::wake),
            Err(_) => {
                let count = self.counters.late_or_unknown();
                tracing::debug!(count, "dropped a response to no request in flight");
            }
        }
    }

    /// Returns the request that a response must belong to although its id is not in the table.
    fn match_request_id(
        &self,
        table: &InflightTable,
        id: Option<RequestId>,
        outcome: &Outcome,
    ) -> Option<RequestId> {
        match id {
            // Some servers answer the id 7 with "7".
            Some(id) => {
                let number = id.canonical_number().map(RequestId::Number);
                number
                    .filter(|number| table.requests.contains_key(number))
                    .inspect(|_| _ = self.counters.id_coerced())
            }
            // An error without an id can only belong to the single request in flight.
            None if table.requests.len() == 1 && !matches!(outcome, Ok(Ok(_))) => {
                table.requests.keys().next().cloned()
            }
            None => None,
        }
    }

    /// Hands a notification to its exchange. Returns it when that exchange has ended.
    pub(crate) fn note(
        &self,
        id: &RequestId,
        kind: NoteKind,
        note: InboundNotification,
    ) -> Result<(), InboundNotification> {
        let mut table = self.table.lock();
        let is_end = kind == NoteKind::EndsListener;
        let takes = |request: &&mut InflightRequest| {
            request.outcome.is_none() && (!is_end || request.kind == ExchangeKind::Listen)
        };
        let Some(request) = table.requests.get_mut(id).filter(takes) else {
            return Err(note);
        };
        let is_latest = |kind: NoteKind| kind == NoteKind::LatestOnly;
        if !request.notes.is_empty() && is_latest(request.last_kind) && is_latest(kind) {
            request.notes.pop_back();
        } else if request.notes.len() >= self.max_notes {
            request.notes.pop_front();
            self.counters.dropped_notes();
        }
        request.notes.push_back(QueuedNote { note, kind: QueuedKind::Own });
        request.last_kind = kind;
        let waker = request.waker.take();
        drop(table);
        waker.inspect(Waker::wake_by_ref);
        Ok(())
    }

    /// Hands a copy of a notification to every call in flight, which learns whether it is the only one.
    pub(crate) fn observe(&self, note: &InboundNotification) {
        let mut table = self.table.lock();
        let is_call = |request: &&InflightRequest| request.kind == ExchangeKind::Call;
        let is_alone = table.requests.values().filter(is_call).nth(1).is_none();
        let kind = if is_alone { QueuedKind::Observed } else { QueuedKind::ObservedByAll };
        let mut wakers = Vec::new();
        for request in table.requests.values_mut().filter(|request| request.kind == ExchangeKind::Call) {
            if request.outcome.is_none() && request.notes.len() < self.max_notes {
                request.notes.push_back(QueuedNote { note: note.clone(), kind });
                request.last_kind = NoteKind::Ordered;
                wakers.extend(request.waker.take());
            }
        }
        drop(table);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Returns whether the request with this id is a listener.
    pub(crate) fn is_listener(&self, id: &RequestId) -> bool {
        self.table.lock().requests.get(id).is_some_and(|request| request.kind == ExchangeKind::Listen)
    }

    /// Fails every request in flight, and every later one, with this error. The first call counts.
    pub(crate) fn end(&self, error: &LinkError) {
        let mut table = self.table.lock();
        if table.ended.is_some() {
            return;
        }
        table.ended = Some(error.clone());
        let mut wakers = Vec::new();
        for request in table.requests.values_mut().filter(|request| request.outcome.is_none()) {
            let left = request.offset.is_none_or(|offset| self.outbox.may_have_left(offset));
            request.outcome = Some(Err(if left { error.clone() } else { error.clone().unsent() }));
            wakers.extend(request.waker.take());
        }
        drop(table);
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn ended(&self) -> Option<LinkError> {
        self.table.lock().ended.clone()
    }

    pub(crate) fn len(&self) -> usize {
        self.table.lock().requests.len()
    }
}

impl ExchangeTable for Inflight {
    fn poll_event(&self, id: &RequestId, cx: &mut Context<'_>) -> Poll<Result<ExchangeEvent, LinkError>> {
        let mut table = self.table.lock();
        let Some(request) = table.requests.get_mut(id) else { return Poll::Ready(Err(LinkError::Closed)) };
        if let Some(QueuedNote { note, kind }) = request.notes.pop_front() {
            return Poll::Ready(Ok(match kind {
                QueuedKind::Own => ExchangeEvent::Notification(note),
                QueuedKind::Observed => ExchangeEvent::Observed(note),
                QueuedKind::ObservedByAll => ExchangeEvent::ObservedByAll(note),
            }));
        }
        if request.outcome.is_none() {
            if !request.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                request.waker = Some(cx.waker().clone());
            }
            return Poll::Pending;
        }
        let request = table.requests.remove(id).and_then(|request| request.outcome);
        Poll::Ready(request.unwrap_or(Err(LinkError::Closed)).map(ExchangeEvent::Done))
    }

    fn abandon(&self, id: &RequestId) {
        let request = self.table.lock().requests.remove(id);
        let Some(InflightRequest { kind: ExchangeKind::Call | ExchangeKind::Listen, outcome: None, .. }) =
            request
        else {
            return;
        };
        let CancelNote { method, params } = (self.cancel)(id);
        // The link may be gone; then there is no peer to notify.
        let _ = put_note(&self.outbox, method, std::str::from_utf8(&params).ok());
    }
}

impl fmt::Debug for Inflight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflight").field("pending", &self.len()).finish_non_exhaustive()
    }
}
