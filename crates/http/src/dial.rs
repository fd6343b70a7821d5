//! Dials connections: TCP, through a proxy if one is set, then TLS for https.
//!
//! Invariants: each step has a timeout, and errors name the step; Nagle's algorithm is off and TCP
//! keep-alive on; the server chooses between HTTP/1.1 and HTTP/2 in the TLS handshake. Knows no requests.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiAddrs, GaiFuture, GaiResolver, Name};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower_service::Service;

use crate::error::{ConnectKind, HttpError};
use crate::proxy::{Proxies, Proxy};
use crate::source::find;
use crate::tls::Tls;
use crate::tunnel;
use crate::url::Address;

/// TCP keep-alive: idle time, interval and number of probes.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(30), Duration::from_secs(10), 3);

/// Dials connections.
pub(crate) struct Dialer {
    tcp: HttpConnector<Resolver>,
    tls: Tls,
    proxies: Proxies,
    connect_timeout: Duration,
}

impl Dialer {
    pub(crate) fn new(tls: Tls, proxies: Proxies, connect_timeout: Duration) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(Resolver(GaiResolver::new()));
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEPALIVE.0));
        tcp.set_keepalive_interval(Some(KEEPALIVE.1));
        tcp.set_keepalive_retries(Some(KEEPALIVE.2));
        Self { tcp, tls, proxies, connect_timeout }
    }

    /// Dials a connection to an address.
    pub(crate) async fn dial(&self, address: &Address) -> Result<Connection, HttpError> {
        let uri = address.uri().clone();
        let secure = uri.scheme() == Some(&Scheme::HTTPS);
        let host = uri.host().unwrap_or_default().to_owned();
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let proxy = self.proxies.find(secure, &host, port);
        let target = match proxy {
            Some(Proxy::Usable { host, .. } | Proxy::Unusable { host }) => host.clone(),
            None => format!("{host}:{port}"),
        };
        let kind = if proxy.is_some() { ConnectKind::Proxy } else { ConnectKind::Timeout };
        let opening = self.open_stream(uri, proxy, format!("{host}:{port}"), secure);
        let stream = timeout(self.connect_timeout, opening)
            .await
            .unwrap_or_else(|_| Err(HttpError::connect(target, kind)))?;
        if !secure {
            return Ok(Connection {
                io: TokioIo::new(Box::new(stream)),
                proxied: proxy.is_some(),
                h2: false,
            });
        }
        let stream = self.tls.connect(&host, stream).await?;
        let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        // Not `proxied`: inside a tunnel requests look as they do without a proxy.
        Ok(Connection { io: TokioIo::new(Box::new(stream)), proxied: false, h2 })
    }

    /// Opens a TCP stream to the host, or to the proxy, with a tunnel for https.
    async fn open_stream(
        &self,
        uri: Uri,
        proxy: Option<&Proxy>,
        authority: String,
        secure: bool,
    ) -> Result<TcpStream, HttpError> {
        match proxy {
            None => self.tcp(uri.clone()).await.map_err(|error| HttpError::Connect {
                host: authority,
                kind: connect_kind(&*error),
                source: Some(error.into()),
            }),
            Some(Proxy::Unusable { host }) => Err(HttpError::connect(host.as_str(), ConnectKind::ProxyKind)),
            Some(Proxy::Usable { uri, host, credentials }) => {
                let mut stream = self.tcp(uri.clone()).await.map_err(|error| HttpError::Connect {
                    host: host.clone(),
                    kind: ConnectKind::Proxy,
                    source: Some(error.into()),
                })?;
                if secure {
                    tunnel::open(&mut stream, host, &authority, credentials.as_ref()).await?;
                }
                Ok(stream)
            }
        }
    }

    async fn tcp(&self, uri: Uri) -> Result<TcpStream, Box<dyn Error + Send + Sync>> {
        let mut tcp = self.tcp.clone();
        Ok(tcp.call(uri).await?.into_inner())
    }
}

fn connect_kind(error: &(dyn Error + 'static)) -> ConnectKind {
    if find::<ResolveError>(error).is_some() {
        return ConnectKind::Dns;
    }
    match find::<io::Error>(error).map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => ConnectKind::Refused,
        Some(io::ErrorKind::TimedOut) => ConnectKind::Timeout,
        Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => ConnectKind::Unreachable,
        _ => ConnectKind::Other,
    }
}

/// The system's resolver with a distinct error type.
#[derive(Clone)]
struct Resolver(GaiResolver);

#[derive(Debug, thiserror::Error)]
#[error("the name cannot be resolved")]
struct ResolveError(#[source] io::Error);

impl Service<Name> for Resolver {
    type Response = GaiAddrs;
    type Error = ResolveError;
    type Future = ResolveFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ResolveError>> {
        self.0.poll_ready(cx).map_err(ResolveError)
    }

    fn call(&mut self, name: Name) -> ResolveFuture {
        ResolveFuture(self.0.call(name))
    }
}

struct ResolveFuture(GaiFuture);

impl Future for ResolveFuture {
    type Output = Result<GaiAddrs, ResolveError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map_err(ResolveError)
    }
}

pub(crate) trait IoStream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> IoStream for S {}

/// A dialed connection.
pub(crate) struct Connection {
    pub(crate) io: TokioIo<Box<dyn IoStream>>,
    /// Whether requests go to a proxy, with the whole address in the request line.
    pub(crate) proxied: bool,
    /// Whether the server has chosen HTTP/2.
    pub(crate) h2: bool,
}
