//! Dials connections: TCP, through a proxy if one is set, then TLS for https.
//!
//! Invariants: each step has a timeout, and errors name the step; Nagle's algorithm is off and TCP
//! keep-alive on; the server chooses between HTTP/1.1 and HTTP/2 in the TLS handshake; an address that the policy of a request
//! does not permit is not connected to. Knows no requests.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tower_service::Service;

use crate::error::{ConnectKind, HttpError};
use crate::host_scopes::{HostScopes, outermost};
use crate::network_scope::{AddressPolicy, NetworkScope};
use crate::proxy::{Proxies, Proxy};
use crate::resolver::{NameLookup, ResolveError, Resolver};
use crate::sanitize::printable;
use crate::source::find;
use crate::tls::Tls;
use crate::tunnel;
use crate::url::Address;

/// TCP keep-alive: idle time, interval and number of probes.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(30), Duration::from_secs(10), 3);

/// Dials connections.
pub(crate) struct Dialer {
    lookup: NameLookup,
    tls: Tls,
    proxies: Proxies,
    connect_timeout: Duration,
    scopes: HostScopes,
    unix_socket: Option<PathBuf>,
}

/// The far end of a connection to be opened.
struct Destination<'a> {
    uri: Uri,
    host: &'a str,
    port: u16,
    is_secure: bool,
    policy: AddressPolicy,
}

impl Dialer {
    pub(crate) fn new(tls: Tls, proxies: Proxies, connect_timeout: Duration) -> Self {
        Self {
            lookup: NameLookup::System,
            tls,
            proxies,
            connect_timeout,
            scopes: HostScopes::default(),
            unix_socket: None,
        }
    }

    /// Returns a dialer that connects to a Unix socket, whatever the address.
    pub(crate) fn with_unix_socket(mut self, path: Option<PathBuf>) -> Self {
        self.unix_socket = path;
        self
    }

    /// Returns a dialer that resolves names by a script.
    #[cfg(test)]
    pub(crate) fn with_lookup(mut self, lookup: NameLookup) -> Self {
        self.lookup = lookup;
        self
    }

    /// Dials a connection to an address that the policy permits.
    pub(crate) async fn dial(
        &self,
        address: &Address,
        policy: AddressPolicy,
    ) -> Result<Connection, HttpError> {
        if let Some(path) = &self.unix_socket {
            return self.dial_unix_socket(path).await;
        }
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
        let destination = Destination { uri, host: &host, port, is_secure: secure, policy };
        let opening = self.open_stream(destination, proxy);
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

    async fn dial_unix_socket(&self, path: &Path) -> Result<Connection, HttpError> {
        let host = || format!("unix:{}", printable(&path.display().to_string()));
        match timeout(self.connect_timeout, UnixStream::connect(path)).await {
            Ok(Ok(stream)) => {
                Ok(Connection { io: TokioIo::new(Box::new(stream)), proxied: false, h2: false })
            }
            Ok(Err(error)) => Err(HttpError::Connect {
                host: host(),
                kind: connect_kind(&error),
                source: Some(std::sync::Arc::new(error)),
            }),
            Err(_) => Err(HttpError::connect(host(), ConnectKind::Timeout)),
        }
    }

    /// Opens a TCP stream to the host, or to the proxy, with a tunnel for https.
    async fn open_stream(
        &self,
        destination: Destination<'_>,
        proxy: Option<&Proxy>,
    ) -> Result<TcpStream, HttpError> {
        let Destination { uri, host, port, is_secure, policy } = destination;
        let authority = format!("{host}:{port}");
        // The connector does not ask the resolver for a number.
        if literal(host).is_some_and(|ip| !policy.permits(NetworkScope::of(ip))) {
            return Err(HttpError::connect(authority, ConnectKind::Forbidden));
        }
        match proxy {
            None => {
                let stream = self.tcp(uri, policy).await.map_err(|error| HttpError::Connect {
                    host: authority,
                    kind: connect_kind(&*error),
                    source: Some(error.into()),
                })?;
                if let Ok(peer) = stream.peer_addr() {
                    self.scopes.record(host, NetworkScope::of(peer.ip()));
                }
                Ok(stream)
            }
            Some(Proxy::Unusable { host }) => Err(HttpError::connect(host.as_str(), ConnectKind::ProxyKind)),
            Some(Proxy::Usable { uri, host, credentials }) => {
                // The proxy is the user's own, wherever it is.
                let opened = self.tcp(uri.clone(), AddressPolicy::Any).await;
                let mut stream = opened.map_err(|error| HttpError::Connect {
                    host: host.clone(),
                    kind: ConnectKind::Proxy,
                    source: Some(error.into()),
                })?;
                if is_secure {
                    tunnel::open(&mut stream, host, &authority, credentials.as_ref()).await?;
                }
                Ok(stream)
            }
        }
    }

    async fn tcp(&self, uri: Uri, policy: AddressPolicy) -> Result<TcpStream, Box<dyn Error + Send + Sync>> {
        let mut tcp = HttpConnector::new_with_resolver(Resolver::new(self.lookup.clone(), policy));
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEPALIVE.0));
        tcp.set_keepalive_interval(Some(KEEPALIVE.1));
        tcp.set_keepalive_retries(Some(KEEPALIVE.2));
        Ok(tcp.call(uri).await?.into_inner())
    }

    /// Returns the scope of a host: where it was connected to lately, or else where its name leads; global if that is not
    /// known, as behind a proxy.
    pub(crate) async fn network_scope(&self, address: &Address) -> NetworkScope {
        let host = address.host();
        if address.is_loopback() {
            return NetworkScope::Loopback;
        }
        if self.proxies.for_address(address).is_some() {
            return NetworkScope::Global;
        }
        if let Some(known) = self.scopes.get(host) {
            return known;
        }
        let found = match literal(host) {
            Some(ip) => Some(NetworkScope::of(ip)),
            None => match timeout(self.connect_timeout, self.lookup.addresses(host)).await {
                Ok(Ok(found)) => found.iter().map(|address| NetworkScope::of(address.ip())).reduce(outermost),
                _ => None,
            },
        };
        found.map_or(NetworkScope::Global, |found| self.scopes.record(host, found))
    }
}

/// Returns the address that a host is written as.
fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn connect_kind(error: &(dyn Error + 'static)) -> ConnectKind {
    match find::<ResolveError>(error) {
        Some(ResolveError::Failed(_)) => return ConnectKind::Dns,
        Some(ResolveError::Forbidden) => return ConnectKind::Forbidden,
        None => {}
    }
    match find::<io::Error>(error).map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => ConnectKind::Refused,
        Some(io::ErrorKind::TimedOut) => ConnectKind::Timeout,
        Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => ConnectKind::Unreachable,
        _ => ConnectKind::Other,
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
