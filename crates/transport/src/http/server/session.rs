//! Sessions of the legacy era: what each remembers, its streams, what it can replay, and what it asked the client.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use foldhash::fast::RandomState;
use parking_lot::Mutex;
use switchboard_protocol::{Raw, RequestId, RpcError};
use switchboard_session::answering::{Caller, Server, ServerSession, Told};
use switchboard_session::link::{Event, Flow, LinkError};
use tokio::task::AbortHandle;

use crate::http::message::note_text;
use crate::http::server::lane::Lane;
use crate::http::server::options::HttpOptions;
use crate::http::server::reply::event;
use crate::http::server::store::SessionStore;
use crate::http::server::stream::{Feed, Weight};

/// The stream that belongs to no request.
pub(crate) const STANDALONE: u64 = 0;

/// All sessions of a service.
pub(crate) struct Sessions {
    // The ids are ours and random, so nobody can choose ones that collide.
    table: Mutex<HashMap<String, Arc<HttpSession>, RandomState>>,
    server: Arc<Server>,
    store: Arc<dyn SessionStore>,
    idle: Duration,
    most: usize,
    limits: StreamLimits,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamLimits {
    pub(crate) replay_events: usize,
    pub(crate) replay_bytes: usize,
    pub(crate) stream_bytes: usize,
    pub(crate) keep_alive: Duration,
    pub(crate) stall: Duration,
}

impl Sessions {
    pub(crate) fn new(server: &Arc<Server>, options: &HttpOptions) -> Self {
        Self {
            table: Mutex::default(),
            server: Arc::clone(server),
            store: Arc::clone(&options.store),
            idle: options.session_idle,
            most: options.sessions,
            limits: StreamLimits {
                replay_events: options.replay_events,
                replay_bytes: options.replay_bytes,
                stream_bytes: options.stream_bytes,
                keep_alive: options.keep_alive,
                stall: options.write_stall,
            },
        }
    }

    /// A session that is not known to anybody yet.
    pub(crate) fn begin(&self, caller: Option<&Caller>) -> Arc<HttpSession> {
        HttpSession::new(random_id(), ServerSession::owned_by(caller), &self.server, self.limits)
    }

    /// Makes a session known: to this instance, and to those who share the store.
    pub(crate) async fn keep(&self, session: &Arc<HttpSession>) {
        self.make_room().await;
        self.table.lock().insert(session.id.clone(), Arc::clone(session));
        self.save(session).await;
    }

    /// Writes what a session remembers to the store.
    pub(crate) async fn save(&self, session: &HttpSession) {
        if let Some(memory) = session.memory.snapshot() {
            self.store.save(&session.id, memory, self.idle).await;
        }
    }

    /// A session by its id, here or in the store. To anybody but the caller who began it, it is not there.
    pub(crate) async fn find(&self, id: &str, caller: Option<&Caller>) -> Option<Arc<HttpSession>> {
        let Some(memory) = self.store.load(id).await else {
            self.forget(id);
            return None;
        };
        let here = self.table.lock().get(id).cloned();
        let session = match here {
            Some(session) => session,
            None => {
                let restored = ServerSession::restore(&memory).filter(|session| session.is_of(caller))?;
                self.make_room().await;
                let session = HttpSession::new(id.to_owned(), restored, &self.server, self.limits);
                Arc::clone(self.table.lock().entry(id.to_owned()).or_insert(session))
            }
        };
        if !session.memory.is_of(caller) {
            return None;
        }
        session.touch(memory);
        Some(session)
    }

    /// Ends a session.
    pub(crate) async fn end(&self, id: &str) {
        self.store.remove(id).await;
        self.forget(id);
    }

    fn forget(&self, id: &str) {
        let session = self.table.lock().remove(id);
        if let Some(session) = session {
            session.end();
        }
    }

    pub(crate) fn end_all(&self) {
        let sessions: Vec<_> = self.table.lock().drain().map(|(_, session)| session).collect();
        sessions.iter().for_each(|session| session.end());
    }

    /// Lets go of sessions that nobody used for long; if that is not enough, of the one idle longest.
    async fn make_room(&self) {
        let (stale, longest) = {
            let mut table = self.table.lock();
            let stale: Vec<_> = table
                .values()
                .filter(|session| session.idle_for() >= self.idle && !session.is_busy())
                .map(|session| session.id.clone())
                .collect();
            let stale: Vec<_> = stale.iter().filter_map(|id| table.remove(id)).collect();
            // One that does nothing goes first; where all are busy, the table still has its size.
            let first = table.values().max_by_key(|session| (!session.is_busy(), session.idle_for()));
            let longest = first.map(|session| session.id.clone());
            let full = table.len() >= self.most;
            (stale, longest.filter(|_| full).and_then(|id| table.remove(&id)))
        };
        // Those that another instance still serves stay in the store, which has a clock of its own.
        stale.iter().for_each(|session| session.end());
        if let Some(longest) = longest {
            longest.end();
            self.store.remove(&longest.id).await;
        }
    }
}

/// 256 random bits: a session id cannot be guessed.
pub(crate) fn random_id() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One session.
pub(crate) struct HttpSession {
    pub(crate) id: String,
    pub(crate) memory: Arc<ServerSession>,
    state: Mutex<State>,
    limits: StreamLimits,
    told: Mutex<Option<Told>>,
}

struct State {
    streams: HashMap<u64, Stream>,
    next_stream: u64,
    logged_events: usize,
    logged_bytes: usize,
    running: HashMap<RequestId, Running>,
    upcalls: HashMap<RequestId, Arc<Mutex<Upcall>>>,
    next_upcall: u64,
    used: Instant,
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
    /// The first connection is hung up on as soon as it is there, and told to come back after this.
    hangs_up: Option<Duration>,
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
    fn new(id: String, memory: ServerSession, server: &Arc<Server>, limits: StreamLimits) -> Arc<Self> {
        let state = State {
            streams: HashMap::from([(STANDALONE, Stream::default())]),
            next_stream: 1,
            logged_events: 0,
            logged_bytes: 0,
            running: HashMap::new(),
            upcalls: HashMap::new(),
            next_upcall: 1,
            used: Instant::now(),
            stored: None,
        };
        let (memory, told) = (Arc::new(memory), Mutex::new(None));
        let session = Arc::new(Self { id, memory, state: Mutex::new(state), limits, told });
        let back = Arc::new(Lane::standalone(&session));
        *session.told.lock() = Some(server.tell(&session.memory, back));
        session
    }

    /// It is used, and this is what the store says of it.
    fn touch(&self, memory: Raw) {
        let mut state = self.state.lock();
        state.used = Instant::now();
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

    fn idle_for(&self) -> Duration {
        self.state.lock().used.elapsed()
    }

    fn is_busy(&self) -> bool {
        !self.state.lock().running.is_empty()
    }

    /// A stream for one request, if `take` takes its number. Nobody sees the stream before that.
    pub(crate) fn open_stream(&self, take: impl FnOnce(u64) -> bool) {
        let mut state = self.state.lock();
        let stream = state.next_stream;
        if take(stream) {
            state.next_stream += 1;
            state.streams.insert(stream, Stream::default());
        }
    }

    /// Forgets a stream that never became one.
    pub(crate) fn drop_stream(&self, stream: u64) {
        self.state.lock().streams.remove(&stream);
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
        if stream != STANDALONE && self.memory.primes_streams() {
            prime(&mut state, stream);
        }
        let Some(known) = state.streams.get_mut(&stream) else { return };
        let logged = known.log(stream, text, weight);
        state.logged_events += 1;
        state.logged_bytes += logged;
        self.trim(&mut state);
    }

    /// Keeps the log within its bounds. Streams that are over give way first, the oldest before the others: else what
    /// nobody came back for would crowd out what somebody may. Then the oldest events of the longest log.
    fn trim(&self, state: &mut State) {
        while state.logged_events > self.limits.replay_events || state.logged_bytes > self.limits.replay_bytes
        {
            let over = state.streams.iter().filter(|(_, stream)| stream.ended).map(|(id, _)| *id).min();
            let longest = || state.streams.iter().max_by_key(|(_, stream)| stream.log.len());
            let Some(id) = over.or_else(|| longest().map(|(id, _)| *id)) else { return };
            let Some(stream) = state.streams.get_mut(&id) else { return };
            let text = stream.log.pop_front();
            if stream.ended && stream.log.is_empty() {
                state.streams.remove(&id);
            } else if text.is_none() {
                return;
            }
            if let Some((_, text)) = text {
                state.logged_events -= 1;
                state.logged_bytes -= text.len();
            }
        }
    }

    /// Attaches a connection to a stream, replaying what came after `after` (or what nobody has seen yet).
    pub(crate) fn attach(&self, stream: u64, after: Option<u64>) -> Option<Arc<Feed>> {
        let mut state = self.state.lock();
        let known = state.streams.get_mut(&stream)?;
        let feed = Feed::new(self.limits.stream_bytes);
        let after = after.unwrap_or(known.sent);
        for (number, text) in known.log.iter().filter(|(number, _)| *number > after) {
            if feed.push(text.clone(), Weight::Must) {
                known.sent = known.sent.max(*number);
            }
        }
        if let Some(retry) = known.hangs_up.take() {
            hang_up_on(&feed, retry);
        } else if known.ended {
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
        prime(&mut state, stream);
        let Some(known) = state.streams.get_mut(&stream) else { return };
        match known.feed.take() {
            Some(feed) => hang_up_on(&feed, retry),
            // The answer is only now becoming a stream.
            None => known.hangs_up = Some(retry),
        }
    }

    /// Ends a stream: whoever reads it is done, whoever comes back gets the rest.
    pub(crate) fn end_stream(&self, stream: u64) {
        let mut state = self.state.lock();
        if let Some(stream) = state.streams.get_mut(&stream) {
            stream.ended = true;
            if let Some(feed) = stream.feed.take() {
                feed.end();
            }
        }
        // Ended streams with nothing left to replay are forgotten.
        state.streams.retain(|id, stream| *id == STANDALONE || !stream.ended || !stream.log.is_empty());
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
        state.used = Instant::now();
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

    fn end(&self) {
        self.memory.end();
        let mut state = self.state.lock();
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
