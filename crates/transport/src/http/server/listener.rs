//! An accept loop of our own: connections are counted, silent and slow ones are given up, and the end is orderly.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::task::Poll;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::http::server::client_id::network;
use crate::http::server::crowd::{Crowd, Room, Seat, Word};
use crate::http::server::endpoint::Endpoint;
use crate::http::server::timed_io::{Patience, TimedIo};

/// How much the accept loop bears.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListenerLimits {
    /// Connections in all; beyond it the one that was idle longest gives way.
    pub connections: usize,
    /// Connections from one address; the same holds.
    pub connections_per_address: usize,
    /// From the connection to the first byte, and for the whole of the headers.
    pub header_time: Duration,
    /// Between two requests on one connection.
    pub idle: Duration,
    /// How long requests under way may still take when the listener is shut down.
    pub drain: Duration,
    /// HTTP/2 requests on one connection at a time.
    pub streams: u32,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            connections: 10_000,
            connections_per_address: 256,
            header_time: seconds(10),
            idle: seconds(60),
            drain: seconds(10),
            streams: 100,
        }
    }
}

/// Serves an endpoint on an address.
#[derive(Debug)]
pub struct HttpListener {
    listener: TcpListener,
    limits: ListenerLimits,
    stop: watch::Sender<bool>,
}

impl HttpListener {
    /// Listens on an address.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        Ok(Self { listener, limits: ListenerLimits::default(), stop: watch::Sender::new(false) })
    }

    /// With these limits.
    #[must_use]
    pub fn with_limits(mut self, limits: ListenerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The address that is listened on.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Something that stops the listener when it is asked to.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Serves until it is stopped; then lets requests under way finish, within bounds.
    pub async fn serve(self, service: impl Endpoint) {
        let crowd = Crowd::default();
        let room = Room { all: self.limits.connections, per_address: self.limits.connections_per_address };
        let mut connections = JoinSet::new();
        let mut stopped = self.stop.subscribe();
        let mut trouble = Trouble::default();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                _ = stopped.wait_for(|stopped| *stopped) => break,
                Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            };
            match accepted {
                Ok((stream, peer)) => {
                    // Closed at once when all the others are busy.
                    let per_address = if service.is_proxy(peer.ip()) { usize::MAX } else { room.per_address };
                    let room = Room { per_address, ..room };
                    let Some(seat) = crowd.admit(room, network(peer.ip())) else { continue };
                    let limits = self.limits.clone();
                    connections.spawn(serve_one(stream, peer.ip(), seat, service.clone(), limits));
                }
                Err(error) => trouble.wait(&error).await,
            }
        }
        drop(self.listener);
        service.shut_down();
        crowd.finish();
        let drained = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(self.limits.drain, drained).await.is_err() {
            connections.shutdown().await;
        }
    }
}

/// Stops a listener.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Stops accepting; what is under way may finish.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// Serves one connection until it ends, is silent for too long, or the listener stops.
async fn serve_one(
    stream: TcpStream,
    peer: IpAddr,
    seat: Seat,
    service: impl Endpoint,
    limits: ListenerLimits,
) {
    let _ = stream.set_nodelay(true);
    let active = seat.active.clone();
    let write = service.write_stall();
    let patience = Patience { head: limits.header_time, between: limits.idle, write };
    let io = TokioIo::new(TimedIo::new(stream, active.clone(), patience));
    let answer = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let (service, answering) = (service.clone(), active.begin());
        async move {
            let reply = service.answer(request, peer).await;
            Ok::<_, std::convert::Infallible>(reply.map(|body| Counting { body, _answering: answering }))
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // The connection has the clock: this one would also run between requests.
        .header_read_timeout(None)
        .max_buf_size(64 * 1024)
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_header_list_size(64 * 1024)
        .initial_stream_window_size(64 * 1024)
        .initial_connection_window_size(1024 * 1024)
        .keep_alive_interval(Some(Duration::from_secs(20)));
    let connection = builder.serve_connection(io, answer);
    let mut connection = std::pin::pin!(connection);
    let mut finishes = false;
    let ended = std::future::poll_fn(|cx| {
        match seat.call.poll(cx) {
            Poll::Ready(Word::GiveWay) => return Poll::Ready(Ok(())),
            Poll::Ready(Word::Finish) if !finishes => {
                finishes = true;
                connection.as_mut().graceful_shutdown();
            }
            _ => {}
        }
        connection.as_mut().poll(cx)
    });
    if let Err(error) = ended.await {
        tracing::debug!(%error, "a connection has ended early");
    }
}

/// A body that counts as a request being answered until it is gone.
struct Counting<B> {
    body: B,
    _answering: crate::http::server::timed_io::Answering,
}

impl<B: http_body::Body + Unpin> http_body::Body for Counting<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<B::Data>, B::Error>>> {
        std::pin::Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}

/// What accepting stumbles over: no descriptors left, mostly.
#[derive(Default)]
struct Trouble {
    logged: Option<Instant>,
}

impl Trouble {
    async fn wait(&mut self, error: &io::Error) {
        if self.logged.is_none_or(|at| at.elapsed() > Duration::from_secs(10)) {
            self.logged = Some(Instant::now());
            tracing::warn!(%error, "no connection could be accepted");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
