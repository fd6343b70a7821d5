//! The multiplexed link: a `Link` over a pipe, with its reading task and its writing task.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::jsonrpc::{
    Envelope, FaultKind, Malformed, Notification, Request, Response, Salvaged, Version,
};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::link::{
    Agreement, Ask, BoxFuture, CloseOutcome, Counters, Exchange, Flush, Hint, Inbound, Inward, Lane, Link,
    LinkError, Note, Outbox, Pipe, PipeGuard, Post, Upcall,
};
use crate::mux::{
    Attend, ConnectionLimits, Inflight, NoteClass, NoteOwner, NoteRules, put_answer, put_note, put_request,
    read,
};

/// How long a far side may take to end that can no longer be spoken to.
const LOST: Duration = Duration::from_secs(2);

/// A link over a pipe.
///
/// Dropping it ends the pipe and what keeps it, without waiting and without a runtime.
pub struct MuxLink {
    outbox: Arc<Outbox>,
    inflight: Arc<Inflight>,
    counters: Arc<Counters>,
    shared: Arc<Shared>,
    inbound: Mutex<Option<Inbound>>,
    guard: Option<Arc<dyn PipeGuard>>,
    limits: ConnectionLimits,
    reader: AbortHandle,
    flusher: AbortHandle,
}

/// What the reading task and the handle both see.
struct Shared {
    batches: AtomicBool,
    /// The strongest hint of what was read so far.
    hint: Mutex<Option<Hint>>,
}

impl MuxLink {
    /// Starts the two tasks of a pipe on the current runtime, for a protocol with these rules.
    pub(crate) fn start_with(pipe: Pipe, limits: ConnectionLimits, rules: NoteRules) -> Arc<Self> {
        let Pipe { outlet, inlet, guard, tap } = pipe;
        let outbox = Arc::new(Outbox::new(outlet, limits.room(), tap.clone()));
        let counters = Arc::new(Counters::default());
        let inflight =
            Arc::new(Inflight::new(Arc::clone(&outbox), Arc::clone(&counters), &limits, rules.cancel));
        let shared = Arc::new(Shared { batches: AtomicBool::new(true), hint: Mutex::default() });
        let (lane, inbound) = Inbound::new(limits.notes);

        let flusher = tokio::spawn(Arc::clone(&outbox).run(limits.write_stall));
        let flusher_abort = flusher.abort_handle();
        let mut attend = Attendant {
            lane: Arc::clone(&lane),
            inflight: Arc::clone(&inflight),
            counters: Arc::clone(&counters),
            shared: Arc::clone(&shared),
            classify: rules.classify,
            junk: Junk::default(),
        };
        let (table, counted, grace) =
            (Arc::clone(&inflight), Arc::clone(&counters), limits.write_failed_grace);
        let guard: Option<Arc<dyn PipeGuard>> = guard.map(Arc::from);
        // Weak, so that dropping the peer ends the far side without waiting for this task.
        let far_side = guard.as_ref().map(Arc::downgrade);
        let reader = tokio::spawn(async move {
            // However this task ends, whoever waits is told.
            let ending = Ending { table: Arc::clone(&table), lane };
            let end = read(inlet, flusher, &table, &counted, grace, tap, &mut attend).await;
            tracing::debug!("the pipe has ended");
            table.end(&end);
            drop(ending);
            if let LinkError::Lost { .. } = end
                && let Some(guard) = far_side.and_then(|far_side| far_side.upgrade())
            {
                // Nothing can be said to it any more, so nothing keeps it.
                guard.leave(LOST).await;
            }
        });
        Arc::new(Self {
            outbox,
            inflight,
            counters,
            shared,
            inbound: Mutex::new(Some(inbound)),
            guard,
            limits,
            reader: reader.abort_handle(),
            flusher: flusher_abort,
        })
    }

    /// How many requests are under way.
    pub fn pending(&self) -> usize {
        self.inflight.len()
    }
}

impl Link for MuxLink {
    fn open(&self, ask: Ask<'_>) -> Exchange {
        let limit = self.limits.outbound_bytes;
        Exchange::Piped(self.inflight.open(ask.id, ask.life, |outbox, id, flush| {
            if ask.params.len() > limit {
                return Err(LinkError::TooLarge { limit });
            }
            put_request(outbox, id, ask.method, ask.params, flush)
        }))
    }

    fn post(&self, post: Post<'_>) -> Result<(), LinkError> {
        match post {
            Post::Note { method, params } => put_note(&self.outbox, method, params)?,
            // A server that asks and never reads must not make us keep every answer.
            Post::Answer { .. } if self.outbox.waiting() > self.limits.queued_bytes as u64 => {
                return Err(LinkError::Overloaded { what: "answers that wait to be written" });
            }
            Post::Answer { id, outcome } => put_answer(&self.outbox, Some(id), outcome, Flush::Soon)?,
        };
        Ok(())
    }

    fn inbound(&self) -> Option<Inbound> {
        self.inbound.lock().take()
    }

    fn close(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        // What is under way ends now; what is already in the box is still written.
        self.inflight.end(&LinkError::Closed);
        self.outbox.close();
        Box::pin(async move {
            let ended = match &self.guard {
                Some(guard) => guard.leave(within).await,
                None => CloseOutcome::Left,
            };
            if self.guard.is_none() {
                // The flusher ends by itself once the far side was told.
                let _ = tokio::time::timeout(within.min(Duration::from_secs(1)), self.outbox.ended()).await;
            }
            self.reader.abort();
            self.flusher.abort();
            ended
        })
    }

    fn close_detached(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        let Some(guard) = &self.guard else { return self.close(within) };
        self.inflight.end(&LinkError::Closed);
        self.outbox.close();
        Box::pin(async move {
            // What is in the box is still written, and the far side sees the end of its input.
            let _ = tokio::time::timeout(within.min(Duration::from_secs(1)), self.outbox.ended()).await;
            if !guard.detach() {
                return self.close(within).await;
            }
            self.reader.abort();
            self.flusher.abort();
            CloseOutcome::Detached
        })
    }

    fn agreed(&self, agreement: Agreement) {
        self.shared.batches.store(agreement.batches, Ordering::Relaxed);
    }

    fn hint(&self) -> Option<Hint> {
        *self.shared.hint.lock()
    }

    fn ended(&self) -> Option<LinkError> {
        self.inflight.ended()
    }

    fn counters(&self) -> Option<Arc<Counters>> {
        Some(Arc::clone(&self.counters))
    }
}

impl Drop for MuxLink {
    fn drop(&mut self) {
        self.inflight.end(&LinkError::Closed);
        self.reader.abort();
        self.flusher.abort();
    }
}

impl fmt::Debug for MuxLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MuxLink").field("pending", &self.pending()).finish_non_exhaustive()
    }
}

/// Ends everything that hangs on the reading task, even when that panics or is stopped.
struct Ending {
    table: Arc<Inflight>,
    lane: Arc<Lane>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        // The first end counts: this says nothing where the task has said how the pipe ended.
        self.table.end(&LinkError::lost("reading from the server has stopped"));
        self.lane.close();
    }
}

/// What a client does with what its server starts: notes to their exchange or the lane, upcalls to the lane.
struct Attendant {
    lane: Arc<Lane>,
    inflight: Arc<Inflight>,
    counters: Arc<Counters>,
    shared: Arc<Shared>,
    classify: fn(&Note) -> NoteClass,
    junk: Junk,
}

/// What the lines say that are no message.
#[derive(Default)]
struct Junk {
    /// Junk lines in a row that began with an opening brace.
    open_run: usize,
    logged: Option<Instant>,
}

impl Attend for Attendant {
    fn request(&mut self, request: Request) {
        self.junk.open_run = 0;
        let Request { id, method, params, version, .. } = request;
        if version == Version::Other {
            self.counters.unversioned();
        }
        self.lane.push(Inward::Upcall(Upcall { id, method, params }));
    }

    fn note(&mut self, note: Notification) {
        self.junk.open_run = 0;
        let Notification { method, params, version } = note;
        if version == Version::Other {
            self.counters.unversioned();
        }
        let note = Note { method, params };
        let NoteClass { owner, kind } = (self.classify)(&note);
        let left = match owner {
            NoteOwner::Request(id) => {
                if self.inflight.note(&id, kind, note).is_err() {
                    self.counters.stray_notes();
                }
                return;
            }
            NoteOwner::Listener(id) if self.inflight.listens(&id) => {
                self.inflight.note(&id, kind, note).err()
            }
            NoteOwner::Listener(_) | NoteOwner::All => Some(note),
        };
        if let Some(note) = left
            && self.lane.push(Inward::Note(note))
        {
            self.counters.dropped_notes();
        }
    }

    fn batch(&mut self, elements: Vec<Result<Envelope, Malformed>>) -> Vec<Response> {
        if !self.shared.batches.load(Ordering::Relaxed) {
            self.counters.batches();
            return Vec::new();
        }
        let mut responses = Vec::new();
        for element in elements {
            match element {
                Ok(Envelope::Response(response)) => responses.push(response),
                Ok(Envelope::Request(request)) => self.request(request),
                Ok(Envelope::Notification(note)) => self.note(note),
                Err(malformed) => self.unreadable(b"", malformed),
            }
        }
        responses
    }

    fn unreadable(&mut self, frame: &[u8], malformed: Malformed) {
        // An answer whose id can still be told fails its caller; anything else is junk between the messages.
        if let Some(id) = malformed.salvaged.id.clone().filter(|_| !malformed.salvaged.has_method) {
            self.counters.malformed();
            self.inflight.complete(Some(id), Err(LinkError::Malformed(malformed)));
            return;
        }
        // An answer whose id is none of ours whatever it says: too long, too large, a fraction.
        if malformed.fault.kind() == FaultKind::BadMember("id") && !malformed.salvaged.has_method {
            self.counters.late_or_unknown();
            return;
        }
        let count = self.counters.junk();
        let judged = Some(self.junk.judge(frame));
        {
            let mut hint = self.shared.hint.lock();
            *hint = judged.max(*hint);
        }
        if self.junk.logged.is_none_or(|at| at.elapsed() > Duration::from_secs(10)) {
            self.junk.logged = Some(Instant::now());
            let shown = String::from_utf8_lossy(&frame[..frame.len().min(200)]);
            tracing::warn!(count, line = ?shown, "the server writes lines that are no message");
        }
    }

    fn lost(&mut self, salvaged: Salvaged, error: LinkError) {
        // The id of a request is the server's number, not one of ours.
        match salvaged.id.filter(|_| !salvaged.has_method) {
            Some(id) => self.inflight.complete(Some(id), Err(error)),
            None => tracing::warn!(%error, "a message was dropped; whose it was could not be told"),
        }
    }

    async fn passed(&mut self) {}
}

impl Junk {
    /// Returns the hint that this line gives.
    fn judge(&mut self, frame: &[u8]) -> Hint {
        if frame.starts_with(&[0xff, 0xfe]) || frame.starts_with(&[0xfe, 0xff]) {
            return Hint::Utf16;
        }
        let opens = frame.trim_ascii() == b"{";
        self.open_run = if opens || self.open_run > 0 { self.open_run + 1 } else { 0 };
        if self.open_run >= 3 { Hint::PrettyPrints } else { Hint::Chatters }
    }
}
