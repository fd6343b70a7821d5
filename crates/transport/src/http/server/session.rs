//! One session of the legacy era: its protocol state, its event streams with their replay log, its running requests, and
//! the requests it has sent to the client.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use switchboard_protocol::{Raw, RequestId, RpcError};
use switchboard_session::link::{ExchangeEvent, LinkError, OwnedExchange};
use switchboard_session::server::{ChangeSubscription, Server, ServerSession};
use tokio::task::AbortHandle;

use crate::http::message::note_text;
use crate::http::server::budget::{Account, Budget, EvictedHolders, Holder};
use crate::http::server::client_id::ClientId;
use crate::http::server::event_queue::{Delivery, EventQueue};
use crate::http::server::reply::event_with_id;
use crate::http::server::session_reply::SessionReplyChannel;

/// The stream that belongs to no request.
pub(crate) const STANDALONE: u64 = 0;

#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamLimits {
    pub(crate) replay_events: usize,
    pub(crate) replay_bytes: usize,
    pub(crate) stream_bytes: usize,
    pub(crate) keep_alive: Duration,
    pub(crate) stall: Duration,
}

/// The byte budgets that sessions share.
#[derive(Debug, Clone)]
pub(crate) struct SessionBudgets {
    /// Budget for the replay logs.
    pub(crate) replay: Arc<Budget>,
    /// Budget for events that wait to be read.
    pub(crate) streams: Arc<Budget>,
}

/// One session.
pub(crate) struct HttpSession {
    pub(crate) id: String,
    pub(crate) memory: Arc<ServerSession>,
    state: Mutex<ActiveSessionState>,
    limits: StreamLimits,
    subscription: Mutex<Option<ChangeSubscription>>,
    /// The client that its bytes are counted against.
    client: Option<ClientId>,
    budgets: SessionBudgets,
    /// Counts the bytes of the replay log; opened with the first event.
    account: OnceLock<Account>,
    /// Number of requests and streams that use the session. Changed by the session table only.
    pub(super) uses: AtomicUsize,
    own: Weak<Self>,
}

/// The mutable state of a session: streams, requests being handled, requests to the client.
struct ActiveSessionState {
    streams: HashMap<u64, SessionStream>,
    next_stream: u64,
    logged_events: usize,
    logged_bytes: usize,
    running: HashMap<RequestId, RunningRequest>,
    upcalls: HashMap<RequestId, Arc<Mutex<PendingUpcall>>>,
    next_upcall: u64,
    /// The state last read from the store.
    stored: Option<Raw>,
}

/// One event stream of a session: its replay log, and the queue of the connection that reads it.
#[derive(Default)]
struct SessionStream {
    next: u64,
    log: VecDeque<(u64, Bytes)>,
    /// The last event that was sent to a connection.
    sent: u64,
    queue: Option<Arc<EventQueue>>,
    /// The queue of the connection that the request came on, until that attaches. It needs no replay.
    first_queue: Option<Arc<EventQueue>>,
    ended: bool,
}

impl SessionStream {
    /// Numbers a message, logs it for replay, and sends it to the attached connection. Returns its size.
    fn log(&mut self, stream: u64, text: &[u8], delivery: Delivery) -> usize {
        self.next += 1;
        let text = event_with_id(Some(&event_id(stream, self.next)), text);
        let bytes = text.len();
        if self.queue.as_ref().is_some_and(|queue| queue.push(text.clone(), delivery)) {
            self.sent = self.next;
        }
        self.log.push_back((self.next, text));
        bytes
    }

    /// Returns whether the stream has ended and has nothing left to replay.
    fn is_finished(&self) -> bool {
        self.ended && self.log.is_empty() && self.first_queue.is_none()
    }
}

/// A request that is being handled.
struct RunningRequest {
    reply_channel: Arc<SessionReplyChannel>,
    task: AbortHandle,
}

/// A request to the client, until its response arrives.
#[derive(Default)]
struct PendingUpcall {
    outcome: Option<Result<Raw, RpcError>>,
    waker: Option<Waker>,
}

impl HttpSession {
    pub(super) fn new(
        id: String,
        memory: ServerSession,
        client: Option<ClientId>,
        limits: StreamLimits,
        budgets: &SessionBudgets,
    ) -> Arc<Self> {
        let state = ActiveSessionState {
            streams: HashMap::from([(STANDALONE, SessionStream::default())]),
            next_stream: 1,
            logged_events: 0,
            logged_bytes: 0,
            running: HashMap::new(),
            upcalls: HashMap::new(),
            next_upcall: 1,
            stored: None,
        };
        Arc::new_cyclic(|own| Self {
            id,
            memory: Arc::new(memory),
            state: Mutex::new(state),
            limits,
            subscription: Mutex::new(None),
            client,
            budgets: budgets.clone(),
            account: OnceLock::new(),
            uses: AtomicUsize::new(0),
            own: own.clone(),
        })
    }

    /// Subscribes the client to change notifications.
    pub(super) fn subscribe_to(self: &Arc<Self>, server: &Arc<Server>) {
        let back = Arc::new(SessionReplyChannel::standalone(self));
        *self.subscription.lock() = Some(server.subscribe_session(&self.memory, back));
    }

    /// Takes over the state from the store.
    pub(super) fn refresh(&self, memory: Raw) {
        let mut state = self.state.lock();
        let is_same = state.stored.as_ref().is_some_and(|stored| {
            // Mostly the very same allocation, which needs no comparison.
            std::ptr::eq(stored.as_str(), memory.as_str()) || stored == &memory
        });
        if !is_same {
            // Another instance may have changed it.
            self.memory.refresh(&memory);
            state.stored = Some(memory);
        }
    }

    /// Marks the session as in use: its log is not evicted.
    pub(super) fn set_busy(&self) {
        if let Some(account) = self.account.get() {
            account.set_busy();
        }
    }

    /// Marks the session as unused: its log may be evicted.
    pub(super) fn set_idle(&self) {
        if let Some(account) = self.account.get() {
            account.set_idle();
        }
    }

    fn account(&self) -> &Account {
        let mut is_new = false;
        let account = self.account.get_or_init(|| {
            is_new = true;
            self.budgets.replay.open(self.client.as_ref(), self.own.clone())
        });
        // From now on `set_idle` finds the account; if the session became idle before, that is made up for here.
        if is_new && self.uses.load(Ordering::SeqCst) == 0 {
            account.set_idle();
        }
        account
    }

    fn queue(&self) -> Arc<EventQueue> {
        EventQueue::new(self.limits.stream_bytes, &self.budgets.streams, self.client.as_ref())
    }

    /// Opens a stream for one request if `take` accepts its number; until then the stream is not visible. With `waits`, the
    /// connection of the request gets the stream from its first event on.
    pub(crate) fn open_stream(&self, waits: bool, take: impl FnOnce(u64) -> bool) {
        let mut state = self.state.lock();
        let stream = state.next_stream;
        if take(stream) {
            state.next_stream += 1;
            let queue = waits.then(|| self.queue());
            let opened =
                SessionStream { queue: queue.clone(), first_queue: queue, ..SessionStream::default() };
            state.streams.insert(stream, opened);
        }
    }

    /// Handles the loss of the connection of a request before it was attached to the stream.
    pub(crate) fn abandon_stream(&self, stream: u64) {
        let mut state = self.state.lock();
        let Some(entry) = state.streams.get_mut(&stream) else { return };
        if let Some(first) = entry.first_queue.take() {
            first.abandon();
        }
        if entry.is_finished() {
            state.streams.remove(&stream);
        }
    }

    /// Drops a stream that was never sent to the client.
    pub(crate) fn drop_stream(&self, stream: u64) {
        let mut state = self.state.lock();
        let before = state.logged_bytes;
        if let Some(dropped) = state.streams.remove(&stream) {
            state.logged_events -= dropped.log.len();
            state.logged_bytes -= dropped.log.iter().map(|(_, text)| text.len()).sum::<usize>();
        }
        self.update_account(state, before);
    }

    /// Returns whether the client reads a stream too slowly.
    pub(crate) fn is_behind(&self, stream: u64) -> bool {
        let state = self.state.lock();
        let queue = state.streams.get(&stream).and_then(|stream| stream.queue.as_ref());
        queue.is_some_and(|queue| queue.is_behind())
    }

    /// Sends a message on a stream: to the attached connection, and into the log for a client that resumes.
    pub(crate) fn send(&self, stream: u64, text: &[u8], delivery: Delivery) {
        let mut state = self.state.lock();
        let before = state.logged_bytes;
        if stream != STANDALONE && self.memory.primes_streams() {
            prime(&mut state, stream);
        }
        let Some(entry) = state.streams.get_mut(&stream) else { return };
        let logged = entry.log(stream, text, delivery);
        state.logged_events += 1;
        state.logged_bytes += logged;
        let StreamLimits { replay_events, replay_bytes, .. } = self.limits;
        state.trim(replay_events, replay_bytes);
        self.update_account(state, before);
    }

    /// Updates the byte account after the log changed from `before` bytes.
    fn update_account(&self, mut state: MutexGuard<'_, ActiveSessionState>, before: usize) {
        let after = state.logged_bytes;
        let mut evicted = EvictedHolders::default();
        if after > before {
            let account = self.account();
            let added = account.add(after - before);
            evicted = added.evicted;
            if added.excess > 0 {
                state.trim(usize::MAX, after.saturating_sub(added.excess));
                account.remove(after - state.logged_bytes);
            }
        } else if after < before {
            self.account().remove(before - after);
        }
        drop(state);
        evicted.release_bytes();
    }

    /// Attaches a connection to a stream and replays the events after `after`, or those that were never sent.
    pub(crate) fn attach(&self, stream: u64, after: Option<u64>) -> Option<Arc<EventQueue>> {
        let mut state = self.state.lock();
        let entry = state.streams.get_mut(&stream)?;
        if let Some(first) = entry.first_queue.take() {
            if after.is_none() {
                if entry.is_finished() {
                    state.streams.remove(&stream);
                }
                return Some(first);
            }
            first.abandon();
        }
        let queue = self.queue();
        let after = after.unwrap_or(entry.sent);
        for (number, text) in entry.log.iter().filter(|(number, _)| *number > after) {
            if queue.push(text.clone(), Delivery::Required) {
                entry.sent = entry.sent.max(*number);
            }
        }
        if entry.ended {
            queue.end();
        } else if let Some(before) = entry.queue.replace(Arc::clone(&queue)) {
            // One connection at a time: the newest replaces the others.
            before.end();
        }
        Some(queue)
    }

    /// Sends a retry delay and closes the connection; the stream itself goes on. Only for clients of a revision with
    /// resumption: for others an end without a response is a failure.
    pub(crate) fn hang_up(&self, stream: u64, retry: Duration) {
        if !self.memory.primes_streams() {
            return;
        }
        let mut state = self.state.lock();
        let before = state.logged_bytes;
        prime(&mut state, stream);
        let Some(entry) = state.streams.get_mut(&stream) else { return };
        if let Some(queue) = entry.queue.take() {
            send_retry_and_end(&queue, retry);
        }
        self.update_account(state, before);
    }

    /// Ends a stream. A client that resumes still gets the rest.
    pub(crate) fn end_stream(&self, stream: u64) {
        let mut state = self.state.lock();
        let Some(entry) = state.streams.get_mut(&stream) else { return };
        entry.ended = true;
        if let Some(queue) = entry.queue.take() {
            queue.end();
        }
        // An ended stream with nothing left to replay is dropped.
        if entry.is_finished() && stream != STANDALONE {
            state.streams.remove(&stream);
        }
    }

    /// Keeps the connection of a stream alive, or abandons it if it has stalled.
    pub(crate) fn maintain_stream(&self, stream: u64) {
        let queue = self.state.lock().streams.get(&stream).and_then(|stream| stream.queue.clone());
        if let Some(queue) = queue {
            queue.maintain(self.limits.keep_alive, self.limits.stall);
        }
    }

    pub(crate) fn maintenance_interval(&self) -> Duration {
        self.limits.keep_alive.min(self.limits.stall) / 4 + Duration::from_millis(1)
    }

    /// Registers a running request.
    ///
    /// # Errors
    /// When the id is in use, or too many requests are running.
    pub(crate) fn register_request(
        &self,
        id: RequestId,
        reply_channel: Arc<SessionReplyChannel>,
        task: AbortHandle,
        most: usize,
    ) -> Result<(), RpcError> {
        let mut state = self.state.lock();
        if state.running.contains_key(&id) {
            return Err(RpcError::invalid_request("a request with this id is being answered already"));
        }
        if state.running.len() >= most {
            let reason = format!("{most} requests of this session are being answered; wait for some of them");
            return Err(RpcError::internal(reason));
        }
        state.running.insert(id, RunningRequest { reply_channel, task });
        Ok(())
    }

    pub(crate) fn remove_request(&self, id: &RequestId) {
        let mut state = self.state.lock();
        state.running.remove(id);
    }

    /// Cancels a running request and ends its stream.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let running = self.state.lock().running.remove(id);
        if let Some(RunningRequest { reply_channel, task }) = running {
            task.abort();
            if let Some(stream) = reply_channel.close() {
                self.end_stream(stream);
            }
        }
    }

    /// Resolves a request to the client with its response.
    pub(crate) fn resolve_upcall(&self, id: &RequestId, outcome: Result<Raw, RpcError>) {
        let Some(upcall) = self.state.lock().upcalls.remove(id) else { return };
        let mut upcall = upcall.lock();
        upcall.outcome = Some(outcome);
        let waker = upcall.waker.take();
        drop(upcall);
        waker.inspect(Waker::wake_by_ref);
    }

    pub(super) fn end(&self) {
        self.memory.end();
        let mut state = self.state.lock();
        let logged = std::mem::take(&mut state.logged_bytes);
        state.logged_events = 0;
        if let Some(account) = self.account.get() {
            account.remove(logged);
        }
        state.running.drain().for_each(|(_, running)| running.task.abort());
        state.streams.drain().filter_map(|(_, stream)| stream.queue).for_each(|queue| queue.end());
        let upcalls: Vec<_> = state.upcalls.drain().map(|(_, upcall)| upcall).collect();
        drop(state);
        for upcall in upcalls {
            let waker = upcall.lock().waker.take();
            waker.inspect(Waker::wake_by_ref);
        }
        *self.subscription.lock() = None;
    }
}

impl ActiveSessionState {
    /// Trims the replay log to these bounds: first the ended streams, oldest first, because their clients are the least
    /// likely to resume; then the oldest events of the longest log.
    fn trim(&mut self, most_events: usize, most_bytes: usize) {
        while self.logged_events > most_events || self.logged_bytes > most_bytes {
            let over = self.streams.iter().filter(|(_, stream)| stream.ended && !stream.log.is_empty());
            let over = over.map(|(id, _)| *id).min();
            let longest = || self.streams.iter().max_by_key(|(_, stream)| stream.log.len());
            let Some(id) = over.or_else(|| longest().map(|(id, _)| *id)) else { return };
            let Some(stream) = self.streams.get_mut(&id) else { return };
            let Some((_, text)) = stream.log.pop_front() else { return };
            if stream.is_finished() && id != STANDALONE {
                self.streams.remove(&id);
            }
            self.logged_events -= 1;
            self.logged_bytes -= text.len();
        }
    }
}

impl Holder for HttpSession {
    fn release_bytes(&self) {
        let mut state = self.state.lock();
        let before = state.logged_bytes;
        state.trim(0, 0);
        self.update_account(state, before);
    }
}

/// Begins a stream with an event that has only an id, so that a client can resume it.
fn prime(state: &mut ActiveSessionState, stream: u64) {
    let Some(entry) = state.streams.get_mut(&stream).filter(|entry| entry.next == 0) else { return };
    let logged = entry.log(stream, b"", Delivery::Required);
    state.logged_events += 1;
    state.logged_bytes += logged;
}

fn send_retry_and_end(queue: &EventQueue, retry: Duration) {
    queue.push(format!("retry: {}\n\n", retry.as_millis()).into(), Delivery::Required);
    queue.end();
}

/// Returns the id of an event. It names the stream, so that a client resumes the right one.
fn event_id(stream: u64, number: u64) -> String {
    format!("s{stream}-{number}")
}

/// Parses an event id into stream and event number.
pub(crate) fn read_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, number) = id.strip_prefix('s')?.split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}

/// A request to the client that awaits its response.
pub(crate) struct UpcallExchange {
    session: Weak<HttpSession>,
    stream: u64,
    id: RequestId,
    upcall: Arc<Mutex<PendingUpcall>>,
}

impl UpcallExchange {
    /// Allocates an id for a request that will be sent on a stream.
    pub(crate) fn new(session: &Arc<HttpSession>, stream: u64) -> Self {
        let upcall: Arc<Mutex<PendingUpcall>> = Arc::default();
        let mut state = session.state.lock();
        let id = RequestId::from(&*format!("{}-{}", &session.id[..8], state.next_upcall));
        state.next_upcall += 1;
        state.upcalls.insert(id.clone(), Arc::clone(&upcall));
        drop(state);
        Self { session: Arc::downgrade(session), stream, id, upcall }
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.id
    }
}

impl OwnedExchange for UpcallExchange {
    fn poll_event(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<ExchangeEvent, LinkError>> {
        let mut upcall = self.upcall.lock();
        if let Some(outcome) = upcall.outcome.take() {
            return Poll::Ready(Ok(ExchangeEvent::Done(outcome)));
        }
        let open =
            self.session.upgrade().is_some_and(|session| session.state.lock().upcalls.contains_key(&self.id));
        if !open {
            return Poll::Ready(Err(LinkError::Closed));
        }
        upcall.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    fn request_id(&self) -> Option<&RequestId> {
        Some(&self.id)
    }
}

impl Drop for UpcallExchange {
    fn drop(&mut self) {
        let Some(session) = self.session.upgrade() else { return };
        if session.state.lock().upcalls.remove(&self.id).is_some() {
            let params = Raw::from(serde_json::json!({ "requestId": self.id }));
            session.send(
                self.stream,
                &note_text("notifications/cancelled", Some(params.as_str())),
                Delivery::Droppable,
            );
        }
    }
}

#[cfg(test)]
mod tests;
