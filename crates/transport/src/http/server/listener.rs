//! Accept loop: limits connections, closes idle and slow ones, and shuts down gracefully.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
#[cfg(feature = "http-tls")]
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::http::server::client_id::network;
use crate::http::server::connections::{AdmissionLimits, ConnectionPermit, Connections, ShutdownSignal};
use crate::http::server::endpoint::Endpoint;
use crate::http::server::timed_io::{IoTimeouts, TimedIo};
#[cfg(feature = "http-tls")]
use crate::http::server::tls::{TlsHandshakes, TlsIdentity};
use crate::http::server::unix_socket::{PrivateSocket, UnixSocketError};

/// Limits of the accept loop.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListenerLimits {
    /// Connections in total; beyond it the longest idle one is closed.
    pub connections: usize,
    /// Connections from one address; beyond it its longest idle one is closed.
    pub connections_per_address: usize,
    /// From the connection to the first byte, and for the whole of the headers.
    pub header_time: Duration,
    /// Between two requests on one connection.
    pub idle: Duration,
    /// How long requests in progress may take after the listener was stopped.
    pub drain: Duration,
    /// HTTP/2 requests on one connection at a time.
    pub streams: u32,
    /// TLS handshakes at a time; further clients wait, for [`Self::header_time`] in all.
    pub handshakes: usize,
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
            handshakes: 1024,
        }
    }
}

/// Serves an endpoint on an address.
///
/// ```
/// use switchboard::server::{HttpListener, HttpServerOptions, HttpService};
/// use switchboard::{Client, Http, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await?;
/// let (address, shutdown) = (listener.address()?, listener.shutdown_handle());
/// let service = HttpService::new(&demo::server(), HttpServerOptions::default());
/// let serving = tokio::spawn(listener.serve(service));
///
/// let session = Client::new().connect(Http::new(format!("http://{address}/mcp"))).await?;
/// assert_eq!(session.call_tool("add", json!({ "a": 1, "b": 2 })).await?.text(), "3");
/// session.close().await;
/// shutdown.stop();
/// serving.await?;
/// # demo::done() });
/// ```
#[derive(Debug)]
pub struct HttpListener {
    socket: ListeningSocket,
    limits: ListenerLimits,
    #[cfg(feature = "http-tls")]
    tls: Option<Arc<TlsIdentity>>,
    stop: watch::Sender<bool>,
}

impl HttpListener {
    /// Listens on an address.
    ///
    /// # Errors
    /// When binding fails.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        Ok(Self::new(ListeningSocket::Tcp(TcpListener::bind(address).await?)))
    }

    /// Listens on a Unix socket that only this user can connect to. The socket is removed when the listener ends.
    ///
    /// # Errors
    /// When other users could replace the socket, another process listens on it, or the path cannot be used.
    pub fn bind_unix(path: impl Into<PathBuf>) -> Result<Self, UnixSocketError> {
        Ok(Self::new(ListeningSocket::Unix(PrivateSocket::bind(path.into())?)))
    }

    fn new(socket: ListeningSocket) -> Self {
        Self {
            socket,
            limits: ListenerLimits::default(),
            #[cfg(feature = "http-tls")]
            tls: None,
            stop: watch::Sender::new(false),
        }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: ListenerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Serves encrypted connections only, with this certificate. Negotiates HTTP/2 or HTTP/1.1. A Unix socket is never
    /// encrypted.
    #[cfg(feature = "http-tls")]
    #[must_use]
    pub fn with_tls(mut self, identity: impl Into<Arc<TlsIdentity>>) -> Self {
        self.tls = Some(identity.into());
        self
    }

    /// Returns the local address.
    ///
    /// # Errors
    /// When the system cannot tell it, and for a Unix socket.
    pub fn address(&self) -> io::Result<SocketAddr> {
        match &self.socket {
            ListeningSocket::Tcp(listener) => listener.local_addr(),
            ListeningSocket::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Returns a handle that stops the listener.
    pub fn shutdown_handle(&self) -> ShutdownHandle {
        ShutdownHandle(self.stop.clone())
    }

    /// Serves until stopped, then waits up to [`ListenerLimits::drain`] for requests in progress.
    pub async fn serve(self, service: impl Endpoint) {
        let open = Connections::default();
        let admission = AdmissionLimits {
            all: self.limits.connections,
            per_address: self.limits.connections_per_address,
        };
        #[cfg(feature = "http-tls")]
        let tls = self.tls.map(|identity| Arc::new(TlsHandshakes::new(identity, self.limits.handshakes)));
        let mut connections = JoinSet::new();
        let mut stopped = self.stop.subscribe();
        let mut backoff = AcceptBackoff::default();
        loop {
            let accepted = tokio::select! {
                accepted = self.socket.accept() => accepted,
                _ = stopped.wait_for(|stopped| *stopped) => break,
                Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            };
            match accepted {
                Ok((stream, peer)) => {
                    // The connection is closed at once if all others are busy.
                    let per_address = if service.is_proxy(peer) { usize::MAX } else { admission.per_address };
                    let admission = AdmissionLimits { per_address, ..admission };
                    let Some(permit) = open.admit(admission, network(peer)) else { continue };
                    let (service, limits) = (service.clone(), self.limits.clone());
                    let client = AdmittedClient { peer, permit };
                    let stream = match stream {
                        AcceptedStream::Tcp(stream) => stream,
                        AcceptedStream::Unix(stream) => {
                            connections.spawn(serve_connection(stream, client, service, limits));
                            continue;
                        }
                    };
                    #[cfg(feature = "http-tls")]
                    if let Some(tls) = &tls {
                        connections.spawn(serve_secure(stream, Arc::clone(tls), client, service, limits));
                        continue;
                    }
                    connections.spawn(serve_connection(stream, client, service, limits));
                }
                Err(error) => backoff.wait(&error).await,
            }
        }
        drop(self.socket);
        service.shut_down();
        open.shut_down();
        let drained = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(self.limits.drain, drained).await.is_err() {
            connections.shutdown().await;
        }
    }
}

/// Where connections come from.
#[derive(Debug)]
enum ListeningSocket {
    Tcp(TcpListener),
    Unix(PrivateSocket),
}

enum AcceptedStream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl ListeningSocket {
    /// Accepts a connection and returns the address of its client; that of this machine for a Unix socket.
    ///
    /// # Cancellation
    /// No connection is lost.
    async fn accept(&self) -> io::Result<(AcceptedStream, IpAddr)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, peer) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                Ok((AcceptedStream::Tcp(stream), peer.ip()))
            }
            Self::Unix(socket) => {
                Ok((AcceptedStream::Unix(socket.accept().await?), Ipv4Addr::LOCALHOST.into()))
            }
        }
    }
}

/// Stops a listener.
#[derive(Debug, Clone)]
pub struct ShutdownHandle(watch::Sender<bool>);

impl ShutdownHandle {
    /// Stops accepting; requests in progress may finish.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

/// A client whose connection was admitted.
struct AdmittedClient {
    peer: IpAddr,
    permit: ConnectionPermit,
}

/// Performs the handshake of a connection and serves it.
#[cfg(feature = "http-tls")]
async fn serve_secure(
    stream: TcpStream,
    tls: Arc<TlsHandshakes>,
    client: AdmittedClient,
    service: impl Endpoint,
    limits: ListenerLimits,
) {
    let secured = {
        let mut handshake = std::pin::pin!(tls.accept(stream, limits.header_time));
        std::future::poll_fn(|cx| match client.permit.shutdown.poll(cx) {
            Poll::Ready(_) => Poll::Ready(None),
            Poll::Pending => handshake.as_mut().poll(cx),
        })
        .await
    };
    if let Some(stream) = secured {
        serve_connection(stream, client, service, limits).await;
    }
}

/// Serves one connection until it ends, times out, or the listener stops.
async fn serve_connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    client: AdmittedClient,
    service: impl Endpoint,
    limits: ListenerLimits,
) {
    let AdmittedClient { peer, permit } = client;
    let activity = permit.activity.clone();
    let write = service.write_stall();
    let timeouts = IoTimeouts { head: limits.header_time, between: limits.idle, write };
    let io = TokioIo::new(TimedIo::new(stream, activity.clone(), timeouts));
    let answer = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let (service, in_progress) = (service.clone(), activity.begin());
        async move {
            let reply = service.answer(request, peer).await;
            Ok::<_, std::convert::Infallible>(
                reply.map(|body| TrackedBody { body, _in_progress: in_progress }),
            )
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        // `TimedIo` has the timeouts: this one would also run between requests.
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
    let mut is_shutting_down = false;
    let ended = std::future::poll_fn(|cx| {
        match permit.shutdown.poll(cx) {
            Poll::Ready(ShutdownSignal::Immediate) => return Poll::Ready(Ok(())),
            Poll::Ready(ShutdownSignal::Graceful) if !is_shutting_down => {
                is_shutting_down = true;
                connection.as_mut().graceful_shutdown();
            }
            _ => {}
        }
        connection.as_mut().poll(cx)
    });
    if let Err(error) = ended.await {
        tracing::debug!(%error, "connection ended with an error");
    }
}

/// A body that marks its request as in progress until it is dropped.
struct TrackedBody<B> {
    body: B,
    _in_progress: crate::http::server::timed_io::RequestInProgress,
}

impl<B: http_body::Body + Unpin> http_body::Body for TrackedBody<B> {
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

/// Waits after a failed accept, mostly for want of descriptors, and limits how often that is logged.
#[derive(Default)]
struct AcceptBackoff {
    logged: Option<Instant>,
}

impl AcceptBackoff {
    async fn wait(&mut self, error: &io::Error) {
        if self.logged.is_none_or(|at| at.elapsed() > Duration::from_secs(10)) {
            self.logged = Some(Instant::now());
            tracing::warn!(%error, "cannot accept connections");
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
