//! The table of requests in flight: sent, and not answered yet.
//!
//! Invariant: an id is in the table iff its [`Pending`] is alive and has not given its answer yet.
//! Ids and raw results only.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use switchboard_protocol::{Raw, RequestId, RpcError};

use crate::link::{Counters, Event, ExchangeTable, Flush, Life, LinkError, Note, Outbox, Pending, Ticket};
use crate::mux::{CancelNote, ConnectionLimits, NoteKind, put_note};

type Outcome = Result<Result<Raw, RpcError>, LinkError>;

/// The table of requests under way.
pub(crate) struct Inflight {
    // Held for a look-up and an insert, never across an await.
    table: Mutex<Table>,
    outbox: Arc<Outbox>,
    counters: Arc<Counters>,
    cancel: fn(&RequestId) -> CancelNote,
    most: usize,
    most_notes: usize,
}

#[derive(Default)]
struct Table {
    slots: HashMap<RequestId, Slot, foldhash::fast::FixedState>,
    ended: Option<LinkError>,
}

struct Slot {
    life: Life,
    ticket: Option<Ticket>,
    waker: Option<Waker>,
    notes: VecDeque<Note>,
    /// The kind of the note that was queued last.
    last_kind: NoteKind,
    outcome: Option<Outcome>,
}

impl Table {
    /// Gives a request its answer, and gives back whom to wake; the answer itself when nobody waits for it.
    fn give(&mut self, id: &RequestId, outcome: Outcome) -> Result<Option<Waker>, Outcome> {
        match self.slots.get_mut(id) {
            Some(slot) if slot.outcome.is_none() => {
                slot.outcome = Some(outcome);
                Ok(slot.waker.take())
            }
            _ => Err(outcome),
        }
    }
}

impl Inflight {
    /// An empty table. `cancel` makes the notification that is sent for a request that nobody waits for any more.
    pub(crate) fn new(
        outbox: Arc<Outbox>,
        counters: Arc<Counters>,
        limits: &ConnectionLimits,
        cancel: fn(&RequestId) -> CancelNote,
    ) -> Self {
        let (most, most_notes) = (limits.pending, limits.notes);
        Self { table: Mutex::default(), outbox, counters, cancel, most, most_notes }
    }

    /// Enters a request, then puts it: `put` writes the frame and is called with the entry in place.
    pub(crate) fn open(
        self: &Arc<Self>,
        id: RequestId,
        life: Life,
        put: impl FnOnce(&Outbox, &RequestId, Flush) -> Result<Ticket, LinkError>,
    ) -> Pending {
        let entered = self.enter(id.clone(), life).and_then(|flush| {
            let put = put(&self.outbox, &id, flush);
            let mut table = self.table.lock();
            match put {
                Ok(ticket) => {
                    if let Some(slot) = table.slots.get_mut(&id) {
                        slot.ticket = Some(ticket);
                    }
                    Ok(())
                }
                Err(error) => {
                    table.slots.remove(&id);
                    Err(error)
                }
            }
        });
        Pending::new(Arc::clone(self) as Arc<dyn ExchangeTable>, entered.map(|()| id))
    }

    /// Enters a request, and says when it should leave.
    fn enter(&self, id: RequestId, life: Life) -> Result<Flush, LinkError> {
        let mut table = self.table.lock();
        if let Some(error) = &table.ended {
            return Err(error.clone().unsent());
        }
        if table.slots.len() >= self.most {
            return Err(LinkError::Overloaded { what: "requests under way" });
        }
        let (notes, last_kind) = (VecDeque::new(), NoteKind::Ordered);
        let slot = Slot { life, ticket: None, waker: None, notes, last_kind, outcome: None };
        table.slots.insert(id, slot);
        // One that is alone has nobody to share a write with: waiting for the flusher would only cost a turn.
        Ok(if table.slots.len() == 1 { Flush::Now } else { Flush::Soon })
    }

    /// Hands an answer to its caller.
    pub(crate) fn complete(&self, id: Option<RequestId>, outcome: Outcome) {
        let mut table = self.table.lock();
        let given = match &id {
            Some(id) => table.give(id, outcome),
            None => Err(outcome),
        };
        let given = given.or_else(|outcome| match self.meant(&table, id, &outcome) {
            Some(id) => table.give(&id, outcome),
            None => Err(outcome),
        });
        drop(table);
        match given {
            Ok(waker) => waker.into_iter().for_each(Waker::wake),
            Err(_) => {
                let count = self.counters.late_or_unknown();
                tracing::debug!(count, "an answer to nothing under way was dropped");
            }
        }
    }

    /// Whose answer it must be, when its id is not one under way.
    fn meant(&self, table: &Table, id: Option<RequestId>, outcome: &Outcome) -> Option<RequestId> {
        match id {
            // Some servers answer the id 7 with "7".
            Some(id) => {
                let number = id.canonical_number().map(RequestId::Number);
                number
                    .filter(|number| table.slots.contains_key(number))
                    .inspect(|_| _ = self.counters.id_coerced())
            }
            // An error without an id can only be for the one request there is.
            None if table.slots.len() == 1 && !matches!(outcome, Ok(Ok(_))) => {
                table.slots.keys().next().cloned()
            }
            None => None,
        }
    }

    /// Hands a note to the exchange it belongs to. Gives it back when that is over.
    pub(crate) fn note(&self, id: &RequestId, kind: NoteKind, note: Note) -> Result<(), Note> {
        let mut table = self.table.lock();
        let is_end = kind == NoteKind::EndsListener;
        let takes = |slot: &&mut Slot| slot.outcome.is_none() && (!is_end || slot.life == Life::Listen);
        let Some(slot) = table.slots.get_mut(id).filter(takes) else {
            return Err(note);
        };
        let is_latest = |kind: NoteKind| kind == NoteKind::LatestOnly;
        if !slot.notes.is_empty() && is_latest(slot.last_kind) && is_latest(kind) {
            slot.notes.pop_back();
        } else if slot.notes.len() >= self.most_notes {
            slot.notes.pop_front();
            self.counters.dropped_notes();
        }
        slot.notes.push_back(note);
        slot.last_kind = kind;
        let waker = slot.waker.take();
        drop(table);
        waker.inspect(Waker::wake_by_ref);
        Ok(())
    }

    /// Whether a listener of this id is under way.
    pub(crate) fn listens(&self, id: &RequestId) -> bool {
        self.table.lock().slots.get(id).is_some_and(|slot| slot.life == Life::Listen)
    }

    /// Ends every request under way, and every later one, with this error. The first end counts.
    pub(crate) fn end(&self, error: &LinkError) {
        let mut table = self.table.lock();
        if table.ended.is_some() {
            return;
        }
        table.ended = Some(error.clone());
        let mut wakers = Vec::new();
        for slot in table.slots.values_mut().filter(|slot| slot.outcome.is_none()) {
            let left = slot.ticket.is_none_or(|ticket| self.outbox.has_left(ticket));
            slot.outcome = Some(Err(if left { error.clone() } else { error.clone().unsent() }));
            wakers.extend(slot.waker.take());
        }
        drop(table);
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn ended(&self) -> Option<LinkError> {
        self.table.lock().ended.clone()
    }

    pub(crate) fn len(&self) -> usize {
        self.table.lock().slots.len()
    }
}

impl ExchangeTable for Inflight {
    fn poll_event(&self, id: &RequestId, cx: &mut Context<'_>) -> Poll<Result<Event, LinkError>> {
        let mut table = self.table.lock();
        let Some(slot) = table.slots.get_mut(id) else { return Poll::Ready(Err(LinkError::Closed)) };
        if let Some(note) = slot.notes.pop_front() {
            return Poll::Ready(Ok(Event::Note(note)));
        }
        if slot.outcome.is_none() {
            if !slot.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                slot.waker = Some(cx.waker().clone());
            }
            return Poll::Pending;
        }
        let slot = table.slots.remove(id).and_then(|slot| slot.outcome);
        Poll::Ready(slot.unwrap_or(Err(LinkError::Closed)).map(Event::Done))
    }

    fn abandon(&self, id: &RequestId) {
        let slot = self.table.lock().slots.remove(id);
        let Some(Slot { life: Life::Call | Life::Listen, outcome: None, .. }) = slot else { return };
        let CancelNote { method, params } = (self.cancel)(id);
        // The link may be gone, and then nobody is left to tell.
        let _ = put_note(&self.outbox, method, std::str::from_utf8(&params).ok());
    }
}

impl fmt::Debug for Inflight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflight").field("pending", &self.len()).finish_non_exhaustive()
    }
}
