//! One session of the legacy era: what it remembers, its streams, what it can replay, and what it asked the client.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use switchboard_protocol::{Raw, RequestId, RpcError};
use switchboard_session::link::{Event, Flow, LinkError};
use switchboard_session::server::{ChangeSubscription, Server, ServerSession};
use tokio::task::AbortHandle;

use crate::http::message::note_text;
use crate::http::server::budget::{Account, Budget, Evicted, Holder};
use crate::http::server::client_id::ClientId;
use crate::http::server::lane::Lane;
use crate::http::server::reply::event;
use crate::http::server::stream::{Feed, Weight};

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
    /// Events kept for clients that come back.
    pub(crate) replay: Arc<Budget>,
    /// Events that wait to be read.
    pub(crate) streams: Arc<Budget>,
}

/// One session.
pub(crate) struct HttpSession {
    pub(crate) id: String,
    pub(crate) memory: Arc<ServerSession>,
    state: Mutex<State>,
    limits: StreamLimits,
    told: Mutex<Option<ChangeSubscription>>,
    /// Whom its bytes are counted against.
    client: Option<ClientId>,
    budgets: SessionBudgets,
    /// What its log holds is counted here, from the first event on.
    account: OnceLock<Account>,
    /// How many requests and streams use it now. Changed by the table of sessions only.
    pub(super) uses: AtomicUsize,
    own: Weak<Self>,
}

struct State {
    streams: HashMap<u64, Stream>,
    next_stream: u64,
    logged_events: usize,
    logged_bytes: usize,
    running: HashMap<RequestId, Running>,
    upcalls: HashMap<RequestId, Arc<Mutex<Upcall>>>,
    next_upcall: u64,
    /// What the store last said of it.
    stored: Option<Raw>,
}

#[derive(Default)]
struct Stream {
    next: u64,
    log: VecDeque<(u64, Bytes)>,
    /// The last event that went out to a connection.
    sent: u64,
    feed: Option<Arc<Feed>>,
    /// Made with the stream, for the connection that its request came on: that one needs no log.
    first_feed: Option<Arc<Feed>>,
    ended: bool,
}

impl Stream {
    /// Numbers a message, keeps it, and sends it to whoever reads; returns its size.
    fn log(&mut self, stream: u64, text: &[u8], weight: Weight) -> usize {
        self.next += 1;
        let text = event(Some(&event_id(stream, self.next)), text);
        let bytes = text.len();
        if self.feed.as_ref().is_some_and(|feed| feed.push(text.clone(), weight)) {
            self.sent = self.next;
        }
        self.log.push_back((self.next, text));
        bytes
    }

    /// Whether nothing more comes of it.
    fn is_over(&self) -> bool {
        self.ended && self.log.is_empty() && self.first_feed.is_none()
    }
}

/// A request that is being answered.
struct Running {
    lane: Arc<Lane>,
    task: AbortHandle,
}

#[derive(Default)]
struct Upcall {
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
        let state = State {
            streams: HashMap::from([(STANDALONE, Stream::default())]),
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
            told: Mutex::new(None),
            client,
            budgets: budgets.clone(),
            account: OnceLock::new(),
            uses: AtomicUsize::new(0),
            own: own.clone(),
        })
    }

    /// Tells the client of changes from now on.
    pub(super) fn listen_to(self: &Arc<Self>, server: &Arc<Server>) {
        let back = Arc::new(Lane::standalone(self));
        *self.told.lock() = Some(server.subscribe_session(&self.memory, back));
    }

    /// Takes over what the store says of it.
    pub(super) fn refresh(&self, memory: Raw) {
        let mut state = self.state.lock();
        let is_same = state.stored.as_ref().is_some_and(|stored| {
            // Mostly the very same text; it is not even compared then.
            std::ptr::eq(stored.as_str(), memory.as_str()) || stored == &memory
        });
        if !is_same {
            // Another instance may have changed it.
            self.memory.refresh(&memory);
            state.stored = Some(memory);
        }
    }

    /// Somebody uses it: its log stays.
    pub(super) fn set_busy(&self) {
        if let Some(account) = self.account.get() {
            account.set_busy();
        }
    }

    /// Nobody uses it any more: its log may give way to those of others.
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
        // Whoever makes it idle from now on finds the account; before that it was idle already.
        if is_new && self.uses.load(Ordering::SeqCst) == 0 {
            account.set_idle();
        }
        account
    }

    fn feed(&self) -> Arc<Feed> {
        Feed::new(self.limits.stream_bytes, &self.budgets.streams, self.client.as_ref())
    }

    /// Opens a stream for one request, if `take` takes its number. Nobody sees the stream before that. Where the
    /// request still waits, its connection gets the stream from its first event on.
    pub(crate) fn open_stream(&self, waits: bool, take: impl FnOnce(u64) -> bool) {
        let mut state = self.state.lock();
        let stream = state.next_stream;
        if take(stream) {
            state.next_stream += 1;
            let feed = waits.then(|| self.feed());
            let opened = Stream { feed: feed.clone(), first_feed: feed, ..Stream::default() };
            state.streams.insert(stream, opened);
        }
    }

    /// The connection that a request came on is gone before it was given the stream.
    pub(crate) fn abandon_stream(&self, stream: u64) {
        let mut state = self.state.lock();
        let Some(known) = state.streams.get_mut(&stream) else { return };
        if let Some(first) = known.first_feed.take() {
            first.leave();
        }
        if known.is_over() {
            state.streams.remove(&stream);
        }
    }

    /// Forgets a stream that never became one.
    pub(crate) fn drop_stream(&self, stream: u64) {
        let mut state = self.state.lock();
        let before = state.logged_bytes;
        if let Some(dropped) = state.streams.remove(&stream) {
            state.logged_events -= dropped.log.len();
            state.logged_bytes -= dropped.log.iter().map(|(_, text)| text.len()).sum::<usize>();
        }
        self.settle(state, before);
    }

    /// Whether whoever reads a stream is behind.
    pub(crate) fn is_behind(&self, stream: u64) -> bool {
        let state = self.state.lock();
        let feed = state.streams.get(&stream).and_then(|stream| stream.feed.as_ref());
        feed.is_some_and(|feed| feed.is_behind())
    }

    /// Sends a message on a stream: to whoever reads it now, and into the log for whoever comes back.
    pub(crate) fn send(&self, stream: u64, text: &[u8], weight: Weight) {
        let mut state = self.state.lock();
        let before = state.logged_bytes;
        if stream != STANDALONE && self.memory.primes_streams() {
            prime(&mut state, stream);
        }
        let Some(known) = state.streams.get_mut(&stream) else { return };
        let logged = known.log(stream, text, weight);
        state.logged_events += 1;
        state.logged_bytes += logged;
        let StreamLimits { replay_events, replay_bytes, .. } = self.limits;
        state.trim(replay_events, replay_bytes);
        self.settle(state, before);
    }

    /// Counts what the log has grown or shrunk by since it held `before` bytes.
    fn settle(&self, mut state: MutexGuard<'_, State>, before: usize) {
        let after = state.logged_bytes;
        let mut evicted = Evicted::default();
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
        evicted.give_up();
    }

    /// Attaches a connection to a stream, replaying what came after `after` (or what nobody has seen yet).
    pub(crate) fn attach(&self, stream: u64, after: Option<u64>) -> Option<Arc<Feed>> {
        let mut state = self.state.lock();
        let known = state.streams.get_mut(&stream)?;
        if let Some(first) = known.first_feed.take() {
            if after.is_none() {
                if known.is_over() {
                    state.streams.remove(&stream);
                }
                return Some(first);
            }
            first.leave();
        }
        let feed = self.feed();
        let after = after.unwrap_or(known.sent);
        for (number, text) in known.log.iter().filter(|(number, _)| *number > after) {
            if feed.push(text.clone(), Weight::Must) {
                known.sent = known.sent.max(*number);
            }
        }
        if known.ended {
            feed.end();
        } else if let Some(before) = known.feed.replace(Arc::clone(&feed)) {
            // One connection at a time: whoever came back is the one who reads.
            before.end();
        }
        Some(feed)
    }

    /// Says when to come back, and hangs up; the stream itself goes on. Only for clients that know they can come back:
    /// to the others an end without an answer is a failure.
    pub(crate) fn hang_up(&self, stream: u64, retry: Duration) {
        if !self.memory.primes_streams() {
            return;
        }
        let mut state = self.state.lock();
        let before = state.logged_bytes;
        prime(&mut state, stream);
        let Some(known) = state.streams.get_mut(&stream) else { return };
        if let Some(feed) = known.feed.take() {
            hang_up_on(&feed, retry);
        }
        self.settle(state, before);
    }

    /// Ends a stream: whoever reads it is done, whoever comes back gets the rest.
    pub(crate) fn end_stream(&self, stream: u64) {
        let mut state = self.state.lock();
        let Some(known) = state.streams.get_mut(&stream) else { return };
        known.ended = true;
        if let Some(feed) = known.feed.take() {
            feed.end();
        }
        // An ended stream with nothing left to replay is forgotten.
        if known.is_over() && stream != STANDALONE {
            state.streams.remove(&stream);
        }
    }

    /// Looks after whoever reads this stream now.
    pub(crate) fn tend(&self, stream: u64) {
        let feed = self.state.lock().streams.get(&stream).and_then(|stream| stream.feed.clone());
        if let Some(feed) = feed {
            feed.tend(self.limits.keep_alive, self.limits.stall);
        }
    }

    pub(crate) fn tend_every(&self) -> Duration {
        self.limits.keep_alive.min(self.limits.stall) / 4 + Duration::from_millis(1)
    }

    /// Enters a running request; tells why not when its id is taken, or too many run.
    pub(crate) fn enter(
        &self,
        id: RequestId,
        lane: Arc<Lane>,
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
        state.running.insert(id, Running { lane, task });
        Ok(())
    }

    pub(crate) fn leave(&self, id: &RequestId) {
        let mut state = self.state.lock();
        state.running.remove(id);
    }

    /// Cancels a running request. Nothing comes on its stream any more, so that ends too.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let running = self.state.lock().running.remove(id);
        if let Some(Running { lane, task }) = running {
            task.abort();
            if let Some(stream) = lane.close() {
                self.end_stream(stream);
            }
        }
    }

    /// The client has answered a question.
    pub(crate) fn answered(&self, id: &RequestId, outcome: Result<Raw, RpcError>) {
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
        state.streams.drain().filter_map(|(_, stream)| stream.feed).for_each(|feed| feed.end());
        let upcalls: Vec<_> = state.upcalls.drain().map(|(_, upcall)| upcall).collect();
        drop(state);
        for upcall in upcalls {
            let waker = upcall.lock().waker.take();
            waker.inspect(Waker::wake_by_ref);
        }
        *self.told.lock() = None;
    }
}

impl State {
    /// Keeps the log within these bounds. Streams that are over give way first, the oldest before the others: else what
    /// nobody came back for would crowd out what somebody may. Then the oldest events of the longest log.
    fn trim(&mut self, most_events: usize, most_bytes: usize) {
        while self.logged_events > most_events || self.logged_bytes > most_bytes {
            let over = self.streams.iter().filter(|(_, stream)| stream.ended && !stream.log.is_empty());
            let over = over.map(|(id, _)| *id).min();
            let longest = || self.streams.iter().max_by_key(|(_, stream)| stream.log.len());
            let Some(id) = over.or_else(|| longest().map(|(id, _)| *id)) else { return };
            let Some(stream) = self.streams.get_mut(&id) else { return };
            let Some((_, text)) = stream.log.pop_front() else { return };
            if stream.is_over() && id != STANDALONE {
                self.streams.remove(&id);
            }
            self.logged_events -= 1;
            self.logged_bytes -= text.len();
        }
    }
}

impl Holder for HttpSession {
    fn give_up(&self) {
        let mut state = self.state.lock();
        let before = state.logged_bytes;
        state.trim(0, 0);
        self.settle(state, before);
    }
}

/// Begins a stream with an event that has an id and nothing else, so that a client can come back to it.
fn prime(state: &mut State, stream: u64) {
    let Some(known) = state.streams.get_mut(&stream).filter(|known| known.next == 0) else { return };
    let logged = known.log(stream, b"", Weight::Must);
    state.logged_events += 1;
    state.logged_bytes += logged;
}

fn hang_up_on(feed: &Feed, retry: Duration) {
    feed.push(format!("retry: {}\n\n", retry.as_millis()).into(), Weight::Must);
    feed.end();
}

/// The id of an event names its stream, so that a client comes back to the right one.
fn event_id(stream: u64, number: u64) -> String {
    format!("s{stream}-{number}")
}

/// The stream and the number that an event id names.
pub(crate) fn read_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, number) = id.strip_prefix('s')?.split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}

/// A question to the client under way.
pub(crate) struct Asking {
    session: Weak<HttpSession>,
    stream: u64,
    id: RequestId,
    upcall: Arc<Mutex<Upcall>>,
}

impl Asking {
    /// A question that will be put on a stream.
    pub(crate) fn new(session: &Arc<HttpSession>, stream: u64) -> Self {
        let upcall: Arc<Mutex<Upcall>> = Arc::default();
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

impl Flow for Asking {
    fn poll_event(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Event, LinkError>> {
        let mut upcall = self.upcall.lock();
        if let Some(outcome) = upcall.outcome.take() {
            return Poll::Ready(Ok(Event::Done(outcome)));
        }
        let open =
            self.session.upgrade().is_some_and(|session| session.state.lock().upcalls.contains_key(&self.id));
        if !open {
            return Poll::Ready(Err(LinkError::Closed));
        }
        upcall.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let Some(session) = self.session.upgrade() else { return };
        if session.state.lock().upcalls.remove(&self.id).is_some() {
            let params = Raw::from(serde_json::json!({ "requestId": self.id }));
            session.send(
                self.stream,
                &note_text("notifications/cancelled", Some(params.as_str())),
                Weight::Note,
            );
        }
    }
}

#[cfg(test)]
mod tests;
