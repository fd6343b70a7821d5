//! The multiplexed link: a `Link` over a pipe, with its reading task and its writing task.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::jsonrpc::{
    Envelope, MalformedMessage, MessageErrorKind, Notification, RecoveredMessage, Request, Response, Version,
};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::link::{
    Agreement, BoxFuture, CloseOutcome, Counters, Exchange, Flush, Inbound, InboundMessage,
    InboundNotification, InboundQueue, Link, LinkError, OneWayMessage, Outbox, OutgoingRequest, PeerHint,
    Pipe, PipeGuard, Tap, Upcall,
};
use crate::mux::{
    ConnectionLimits, FrameHandler, Inflight, NoteClass, NoteOwner, NoteRules, put_answer, put_note,
    put_request, read,
};

/// How long the peer may take to exit once it can no longer be written to.
const LOST_CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A link over a pipe.
///
/// Dropping it closes the pipe and stops the peer, without waiting and without a runtime.
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

/// State shared by the reading task and the link.
struct Shared {
    batches: AtomicBool,
    /// The strongest hint found so far.
    hint: Mutex<Option<PeerHint>>,
}

impl MuxLink {
    /// Starts the reading and the writing task of a pipe on the current runtime, with these rules for notifications.
    pub(crate) fn start_with(pipe: Pipe, limits: ConnectionLimits, rules: NoteRules) -> Arc<Self> {
        let Pipe { outlet, inlet, guard, tap } = pipe;
        let outbox = Arc::new(Outbox::new(outlet, limits.outbox_limits(), Tap::outbound(tap.as_ref())));
        let counters = Arc::new(Counters::default());
        let inflight =
            Arc::new(Inflight::new(Arc::clone(&outbox), Arc::clone(&counters), &limits, rules.cancel));
        let shared = Arc::new(Shared { batches: AtomicBool::new(true), hint: Mutex::default() });
        let (queue, inbound) = Inbound::new(limits.notes);

        let flusher = tokio::spawn(Arc::clone(&outbox).run(limits.write_stall));
        let flusher_abort = flusher.abort_handle();
        let mut handler = ClientFrameHandler {
            queue: Arc::clone(&queue),
            inflight: Arc::clone(&inflight),
            counters: Arc::clone(&counters),
            shared: Arc::clone(&shared),
            classify: rules.classify,
            junk: JunkDetector::default(),
        };
        let (table, counted, grace) =
            (Arc::clone(&inflight), Arc::clone(&counters), limits.write_failed_grace);
        let guard: Option<Arc<dyn PipeGuard>> = guard.map(Arc::from);
        // Weak, so that dropping the link stops the peer without waiting for this task.
        let peer = guard.as_ref().map(Arc::downgrade);
        let reader = tokio::spawn(async move {
            // Fails all waiting callers however this task ends.
            let reader_guard = ReaderGuard { table: Arc::clone(&table), queue };
            let end = read(inlet, flusher, &table, &counted, grace, tap, &mut handler).await;
            tracing::debug!("pipe closed");
            table.end(&end);
            drop(reader_guard);
            if let LinkError::Lost { .. } = end
                && let Some(guard) = peer.and_then(|peer| peer.upgrade())
            {
                // The peer can no longer be reached, so it is stopped.
                guard.close(LOST_CLOSE_TIMEOUT).await;
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

    /// Returns the number of requests in flight.
    pub fn pending(&self) -> usize {
        self.inflight.len()
    }
}

impl Link for MuxLink {
    fn open(&self, ask: OutgoingRequest<'_>) -> Exchange {
        let limit = self.limits.outbound_bytes;
        Exchange::Piped(self.inflight.open(ask.id, ask.kind, |outbox, id, flush| {
            if ask.params.len() > limit {
                return Err(LinkError::TooLarge { limit });
            }
            put_request(outbox, id, ask.method, ask.params, flush)
        }))
    }

    fn post(&self, post: OneWayMessage<'_>) -> Result<(), LinkError> {
        match post {
            OneWayMessage::Notification { method, params } => put_note(&self.outbox, method, params)?,
            // A server that sends requests and never reads must not make us buffer every response.
            OneWayMessage::Response { .. } if self.outbox.waiting() > self.limits.queued_bytes as u64 => {
                return Err(LinkError::Overloaded { what: "answers that wait to be written" });
            }
            OneWayMessage::Response { id, outcome } => {
                put_answer(&self.outbox, Some(id), outcome, Flush::Soon)?
            }
        };
        Ok(())
    }

    fn inbound(&self) -> Option<Inbound> {
        self.inbound.lock().take()
    }

    fn close(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        // Requests in flight fail now; frames that are already in the outbox are still written.
        self.inflight.end(&LinkError::Closed);
        self.outbox.close();
        Box::pin(async move {
            let ended = match &self.guard {
                Some(guard) => guard.close(within).await,
                None => CloseOutcome::Left,
            };
            if self.guard.is_none() {
                // The flusher ends by itself once the outlet is closed.
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
            // Frames in the outbox are still written, and the peer sees the end of its input.
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

    fn hint(&self) -> Option<PeerHint> {
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

/// Fails the requests in flight and closes the inbound queue when the reading task ends, also by a panic or an abort.
struct ReaderGuard {
    table: Arc<Inflight>,
    queue: Arc<InboundQueue>,
}

impl Drop for ReaderGuard {
    fn drop(&mut self) {
        // The first error counts: this one has no effect when the task has reported how the pipe ended.
        self.table.end(&LinkError::lost("reading from the server has stopped"));
        self.queue.close();
    }
}

/// Handles the frames of a server: notifications go to their exchange or the inbound queue, upcalls to the queue.
struct ClientFrameHandler {
    queue: Arc<InboundQueue>,
    inflight: Arc<Inflight>,
    counters: Arc<Counters>,
    shared: Arc<Shared>,
    classify: fn(&InboundNotification) -> NoteClass,
    junk: JunkDetector,
}

/// Derives a hint from lines that are not messages.
#[derive(Default)]
struct JunkDetector {
    /// Consecutive junk lines, counted from one that was an opening brace.
    open_brace_run: usize,
    logged: Option<Instant>,
}

impl FrameHandler for ClientFrameHandler {
    fn request(&mut self, request: Request) {
        self.junk.open_brace_run = 0;
        let Request { id, method, params, version, .. } = request;
        if version == Version::Other {
            self.counters.unversioned();
        }
        self.queue.push(InboundMessage::Upcall(Upcall { id, method, params }));
    }

    fn note(&mut self, note: Notification) {
        self.junk.open_brace_run = 0;
        let Notification { method, params, version } = note;
        if version == Version::Other {
            self.counters.unversioned();
        }
        let note = InboundNotification { method, params };
        let NoteClass { owner, kind } = (self.classify)(&note);
        let unclaimed = match owner {
            NoteOwner::Request(id) => {
                if self.inflight.note(&id, kind, note).is_err() {
                    self.counters.stray_notes();
                }
                return;
            }
            NoteOwner::Listener(id) if self.inflight.is_listener(&id) => {
                self.inflight.note(&id, kind, note).err()
            }
            NoteOwner::ObservedByCall => {
                self.inflight.observe(&note);
                Some(note)
            }
            NoteOwner::Listener(_) | NoteOwner::All => Some(note),
        };
        if let Some(note) = unclaimed
            && self.queue.push(InboundMessage::Notification(note))
        {
            self.counters.dropped_notes();
        }
    }

    fn batch(&mut self, elements: Vec<Result<Envelope, MalformedMessage>>) -> Vec<Response> {
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

    fn unreadable(&mut self, frame: &[u8], malformed: MalformedMessage) {
        // A response whose id can still be read fails its caller; anything else is junk between the messages.
        if let Some(id) = malformed.recovered.id.clone().filter(|_| !malformed.recovered.has_method) {
            self.counters.malformed();
            self.inflight.complete(Some(id), Err(LinkError::Malformed(malformed)));
            return;
        }
        // A response whose id cannot be one of ours: too long, too large, a fraction.
        if malformed.error.kind() == MessageErrorKind::BadMember("id") && !malformed.recovered.has_method {
            self.counters.late_or_unknown();
            return;
        }
        let count = self.counters.junk();
        let line_hint = Some(self.junk.classify_line(frame));
        {
            let mut hint = self.shared.hint.lock();
            *hint = line_hint.max(*hint);
        }
        if self.junk.logged.is_none_or(|at| at.elapsed() > Duration::from_secs(10)) {
            self.junk.logged = Some(Instant::now());
            let shown = String::from_utf8_lossy(&frame[..frame.len().min(200)]);
            tracing::warn!(count, line = ?shown, "the server writes lines that are not messages");
        }
    }

    fn lost(&mut self, recovered: RecoveredMessage, error: LinkError) {
        // The id of a request is the server's number, not one of ours.
        match recovered.id.filter(|_| !recovered.has_method) {
            Some(id) => self.inflight.complete(Some(id), Err(error)),
            None => tracing::warn!(%error, "dropped a message without a readable id"),
        }
    }

    async fn flush(&mut self) {}
}

impl JunkDetector {
    /// Returns the hint that this line gives.
    fn classify_line(&mut self, frame: &[u8]) -> PeerHint {
        if frame.starts_with(&[0xff, 0xfe]) || frame.starts_with(&[0xfe, 0xff]) {
            return PeerHint::Utf16;
        }
        let opens = frame.trim_ascii() == b"{";
        self.open_brace_run = if opens || self.open_brace_run > 0 { self.open_brace_run + 1 } else { 0 };
        if self.open_brace_run >= 3 { PeerHint::PrettyPrints } else { PeerHint::Chatters }
    }
}
