//! Connections that are kept between requests.
//!
//! Invariants: over HTTP/1.1 a connection carries one request at a time and is kept only when its last response was read
//! to the end; over HTTP/2 one connection is shared; nothing is used after the time it may be idle, and then let go. A
//! request goes out on another connection only when no byte of it was written to the first. Knows no redirects and no
//! credentials: that is the client's.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::HOST;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{TrySendError, http1, http2};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::dial::Dialer;
use crate::error::HttpError;
use crate::source::find;
use crate::url::Address;

/// How many headers a response may have. Over HTTP/1.1 it is also what the library allows by itself.
pub const MAX_HEADERS: usize = 100;
/// How large the head of a response may be.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// How long a connection whose response was read may take to be ready again: its own task is a little behind when it runs
/// on another thread, and for longer when the server has not read all of the request it answered.
const A_MOMENT: Duration = Duration::from_millis(20);

/// How often an HTTP/2 connection is probed while a request is under way, and how long the answer may take.
const H2_PING: (Duration, Duration) = (Duration::from_secs(20), Duration::from_secs(10));

type Outgoing = http::Request<Full<Bytes>>;

/// Keeps connections, and makes those it has not.
#[derive(Clone)]
pub(crate) struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    dialer: Dialer,
    idle: Duration,
    // Held to find, put or take a connection, never across an await.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// One for each origin: a client talks to one or two.
    sites: Vec<Site>,
    /// Whether somebody looks after what is kept.
    swept: bool,
}

struct Site {
    origin: String,
    /// HTTP/1.1, the last used last.
    idle: Vec<Idle>,
    /// HTTP/2, and when it was last asked for.
    shared: Option<(Line, Instant)>,
}

struct Idle {
    line: Line,
    since: Instant,
}

/// The sending end of a connection.
struct Line {
    sender: Sender,
    /// Whether requests go to a proxy, with the whole address in their first line.
    proxied: bool,
}

enum Sender {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

/// A connection whose response is being read.
pub(crate) struct Lease {
    pool: Arc<Inner>,
    address: Address,
    line: Line,
}

impl Pool {
    pub(crate) fn new(dialer: Dialer, idle: Duration) -> Self {
        Self { inner: Arc::new(Inner { dialer, idle, state: Mutex::default() }) }
    }

    /// Sends a request and waits for the head of its response. The lease is to be given back when the body was read.
    pub(crate) async fn send(
        &self,
        address: &Address,
        mut outgoing: Outgoing,
    ) -> Result<(http::Response<Incoming>, Option<Lease>), HttpError> {
        loop {
            let kept = match self.inner.take(address.site()) {
                Some(line) if !line.is_ready() => line.readied().await,
                kept => kept,
            };
            let is_kept = kept.is_some();
            let mut line = match kept {
                Some(line) => line,
                None => self.inner.open(address).await?,
            };
            line.form(&mut outgoing, address);
            match line.try_send(outgoing).await {
                Ok(response) => {
                    let lease = match line.sender {
                        Sender::One(_) => {
                            Some(Lease { pool: Arc::clone(&self.inner), address: address.clone(), line })
                        }
                        Sender::Two(_) => None,
                    };
                    return Ok((response, lease));
                }
                // Closed while it was kept, which is found only now; nothing was written.
                Err(mut error) => match error.take_message() {
                    Some(unsent) if is_kept => outgoing = unsent,
                    unsent => return Err(failure(error.into_error(), unsent.is_none())),
                },
            }
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that is kept and can be used.
    fn take(&self, origin: &str) -> Option<Line> {
        let mut state = self.state();
        let site = state.sites.iter_mut().find(|site| site.origin == origin)?;
        if let Some((line, used)) = &mut site.shared {
            if let Some(shared) = line.shared() {
                *used = Instant::now();
                return Some(shared);
            }
            site.shared = None;
        }
        while site.idle.last().is_some_and(|idle| idle.line.is_closed()) {
            site.idle.pop();
        }
        // The last used is mostly the one. One that is not ready yet serves when there is no other.
        let at = site.idle.iter().rposition(|idle| idle.line.is_ready());
        let at = at.or_else(|| site.idle.iter().rposition(|idle| !idle.line.is_closed()))?;
        let Idle { line, since } = site.idle.remove(at);
        if since.elapsed() >= self.idle {
            // The others were used even longer ago, or cannot be used at all.
            site.idle.clear();
            return None;
        }
        Some(line)
    }

    fn put(self: &Arc<Self>, origin: &str, line: Line) {
        let idle = Idle { line, since: Instant::now() };
        let mut state = self.state();
        state.site(origin).idle.push(idle);
        self.look_after(&mut state);
    }

    /// A fresh connection, or the shared one that another has opened meanwhile.
    async fn open(self: &Arc<Self>, address: &Address) -> Result<Line, HttpError> {
        let wire = self.dialer.dial(address).await?;
        let proxied = wire.proxied;
        if !wire.h2 {
            let mut builder = http1::Builder::new();
            // Not `max_headers`: what it would be set to is what it is, and a number that is set makes the library
            // fill a table of that size for each response. A test holds it to that.
            builder.max_buf_size(MAX_HEAD_BYTES);
            let (mut sender, connection) =
                builder.handshake(wire).await.map_err(|error| failure(error, false))?;
            tokio::spawn(connection);
            sender.ready().await.map_err(|error| failure(error, false))?;
            return Ok(Line { sender: Sender::One(sender), proxied });
        }
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .max_header_list_size(u32::try_from(MAX_HEAD_BYTES).expect("64 KiB fit"))
            .keep_alive_interval(H2_PING.0)
            .keep_alive_timeout(H2_PING.1);
        let (mut sender, connection) =
            builder.handshake(wire).await.map_err(|error| failure(error, false))?;
        tokio::spawn(connection);
        sender.ready().await.map_err(|error| failure(error, false))?;
        let mut state = self.state();
        let site = state.site(address.site());
        if let Some(shared) = site.shared.as_ref().and_then(|(line, _)| line.shared()) {
            return Ok(shared);
        }
        let line = Line { sender: Sender::Two(sender.clone()), proxied };
        site.shared = Some((line, Instant::now()));
        self.look_after(&mut state);
        Ok(Line { sender: Sender::Two(sender), proxied })
    }

    /// Lets go of what was kept for too long, for as long as anything is kept.
    fn look_after(self: &Arc<Self>, state: &mut State) {
        if state.swept {
            return;
        }
        // A body may be dropped anywhere; then the next one that is not sees to it.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        state.swept = true;
        let (pool, every) = (Arc::downgrade(self), (self.idle / 2).max(Duration::from_millis(1)));
        // Ends when nothing is kept any more, or with the pool.
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                if !sweep(&pool) {
                    return;
                }
            }
        });
    }
}

/// Lets go of what was kept for too long; whether to come again.
fn sweep(pool: &Weak<Inner>) -> bool {
    let Some(pool) = pool.upgrade() else { return false };
    let mut state = pool.state();
    for site in &mut state.sites {
        site.idle.retain(|idle| idle.since.elapsed() < pool.idle && !idle.line.is_closed());
        // Requests under way on it go on.
        site.shared.take_if(|(line, used)| used.elapsed() >= pool.idle || line.is_closed());
    }
    state.sites.retain(|site| !site.idle.is_empty() || site.shared.is_some());
    state.swept = !state.sites.is_empty();
    state.swept
}

impl State {
    fn site(&mut self, origin: &str) -> &mut Site {
        let at = self.sites.iter().position(|site| site.origin == origin).unwrap_or_else(|| {
            self.sites.push(Site { origin: origin.to_owned(), idle: Vec::new(), shared: None });
            self.sites.len() - 1
        });
        &mut self.sites[at]
    }
}

impl Line {
    /// Gives the request the address in the form that the far end expects.
    fn form(&self, outgoing: &mut Outgoing, address: &Address) {
        match self.sender {
            Sender::One(_) if self.proxied => *outgoing.uri_mut() = address.uri().clone(),
            Sender::One(_) => *outgoing.uri_mut() = address.target().clone(),
            Sender::Two(_) => {
                *outgoing.uri_mut() = address.uri().clone();
                // The address says it there.
                outgoing.headers_mut().remove(HOST);
            }
        }
    }

    async fn try_send(
        &mut self,
        outgoing: Outgoing,
    ) -> Result<http::Response<Incoming>, TrySendError<Outgoing>> {
        match &mut self.sender {
            Sender::One(sender) => sender.try_send_request(outgoing).await,
            Sender::Two(sender) => sender.try_send_request(outgoing).await,
        }
    }

    /// The same line, once it can be used.
    async fn readied(mut self) -> Option<Self> {
        let Sender::One(sender) = &mut self.sender else { return Some(self) };
        let ready = tokio::time::timeout(A_MOMENT, sender.ready()).await;
        matches!(ready, Ok(Ok(()))).then_some(self)
    }

    fn is_ready(&self) -> bool {
        match &self.sender {
            Sender::One(sender) => sender.is_ready(),
            Sender::Two(sender) => sender.is_ready(),
        }
    }

    fn is_closed(&self) -> bool {
        match &self.sender {
            Sender::One(sender) => sender.is_closed(),
            Sender::Two(sender) => sender.is_closed(),
        }
    }

    /// Another end of the same connection, where it can have two and is open.
    fn shared(&self) -> Option<Self> {
        match &self.sender {
            Sender::Two(sender) if !sender.is_closed() => {
                Some(Self { sender: Sender::Two(sender.clone()), proxied: self.proxied })
            }
            _ => None,
        }
    }
}

impl Lease {
    /// The response was read: the connection can be used again.
    pub(crate) fn give_back(self) {
        if !self.line.is_closed() {
            self.pool.put(self.address.site(), self.line);
        }
    }

    /// The response is not wanted any more: the connection is kept when all of it is there, and else closes.
    pub(crate) fn abandon(self) {
        if self.line.is_ready() {
            self.pool.put(self.address.site(), self.line);
        }
    }
}

/// What an error of a connection means, given whether the request can have left.
fn failure(error: hyper::Error, sent: bool) -> HttpError {
    if let Some(ours) = find::<HttpError>(&error) {
        return ours.clone();
    }
    if error.is_parse() {
        // Which of the two it is, the library tells servers only.
        let reason = format!(
            "the response is not HTTP, or its head has more than {MAX_HEADERS} headers or {MAX_HEAD_BYTES} bytes"
        );
        return HttpError::Protocol { reason, source: Some(Arc::new(error)) };
    }
    let h2 = find::<h2::Error>(&error);
    // Found here, not sent by the server: a head beyond the limit is such an error.
    if h2.is_some_and(|h2| h2.is_library() && h2.reason() == Some(h2::Reason::PROTOCOL_ERROR)) {
        let reason = "the response is not HTTP/2, or its head is too large".to_owned();
        return HttpError::Protocol { reason, source: Some(Arc::new(error)) };
    }
    let refused = h2.and_then(h2::Error::reason) == Some(h2::Reason::REFUSED_STREAM);
    let kept = error.is_canceled() || error.is_closed();
    HttpError::Broken { sent: sent && !refused && !kept, source: Some(Arc::new(error)) }
}
