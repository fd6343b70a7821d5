//! Receives the callback of a login on a loopback port (RFC 8252).
//!
//! Invariants: only this machine can connect; the page it answers with is fixed and reflects nothing of the request;
//! requests that do not carry the `state` of this login are turned away and the login goes on; connections are served at the
//! same time, so one that sends nothing blocks no other; their number, and reading, are bounded; it serves until the login
//! ends, at most ten minutes.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use ring::digest::{SHA256, digest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::error::AuthError;
use crate::form::parameter;

/// How long a login may take.
pub const LOGIN_TIMEOUT: Duration = Duration::from_secs(600);
/// The port of callbacks for authorization servers that compare ports, which RFC 8252 (section 7.3) forbids. A client's metadata
/// document lists it.
pub const FIXED_CALLBACK_PORT: u16 = 28417;
/// How long one connection may take to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest request that is read.
const MAX_REQUEST: usize = 16 * 1024;
/// The most connections that are served at the same time; the next one waits.
const MAX_CONNECTIONS: usize = 64;
/// The path of callbacks, unless another one is set.
pub(crate) const PATH: &str = "/callback";

const FINISHED: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Login finished</title>\
<style>body{font:16px system-ui;margin:15vh auto;max-width:28em;text-align:center}</style>\
<h1>You can close this page</h1><p>Switchboard has received the answer of the authorization server. The terminal shows \
whether the login succeeded.</p></html>";
const TURNED_AWAY: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Not this login</title>\
<p>This page does not belong to the login that is waiting. Start the login again from the terminal.</p></html>";

/// Which port the callback listens on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CallbackPort {
    /// A port that stays the same for a server, so that a registered redirect URI stays valid; any if it is taken.
    #[default]
    Stable,
    /// This one.
    Fixed(u16),
}

impl CallbackPort {
    /// Returns the redirect URI of logins to a server with this port, unless the stable port is taken.
    ///
    /// ```
    /// use switchboard::auth::CallbackPort;
    ///
    /// let uri = CallbackPort::Fixed(8700).redirect_uri("https://mcp.example.com/mcp");
    /// assert_eq!(uri, "http://127.0.0.1:8700/callback");
    /// ```
    pub fn redirect_uri(self, server: &str) -> String {
        let port = match self {
            Self::Stable => stable_port(server),
            Self::Fixed(port) => port,
        };
        format!("http://{}:{port}{PATH}", Ipv4Addr::LOCALHOST)
    }
}

/// Listens for the callback of one login.
///
/// ```
/// use switchboard::auth::{CallbackPort, LoopbackListener};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), switchboard::auth::AuthError> {
/// let listener = LoopbackListener::bind("https://mcp.example.com/mcp", CallbackPort::Stable).await?;
/// assert!(listener.redirect_uri().starts_with("http://127.0.0.1:"));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct LoopbackListener {
    listener: TcpListener,
    /// `http://127.0.0.1:PORT`.
    origin: String,
    path: String,
    redirect_uri: String,
}

impl LoopbackListener {
    /// Listens on a loopback port for a login to this server.
    ///
    /// # Errors
    /// [`AuthError::LoginAborted`] when the port is taken, or no port can be opened.
    pub async fn bind(server: &str, port: CallbackPort) -> Result<Self, AuthError> {
        let bind = |port| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let bound = match port {
            CallbackPort::Fixed(port) => bind(port).await.map_err(|error| (port, error)),
            CallbackPort::Stable => match bind(stable_port(server)).await {
                Ok(listener) => Ok(listener),
                Err(_) => bind(0).await.map_err(|error| (0, error)),
            },
        };
        let listener = bound.map_err(|(port, error)| {
            AuthError::LoginAborted(format!("port {port} cannot be opened on 127.0.0.1: {error}"))
        })?;
        let address = listener.local_addr().map_err(|error| AuthError::LoginAborted(error.to_string()))?;
        let origin = format!("http://{address}");
        Ok(Self { listener, redirect_uri: format!("{origin}{PATH}"), origin, path: PATH.to_owned() })
    }

    /// Receives callbacks at this path instead of `/callback`: a tunnel that forwards `https://tunnel.example/x/y` keeps the
    /// path `/x/y`.
    ///
    /// ```
    /// use switchboard::auth::{CallbackPort, LoopbackListener};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), switchboard::auth::AuthError> {
    /// let listener = LoopbackListener::bind("https://mcp.example.com/mcp", CallbackPort::Stable).await?.with_path("/x/y");
    /// assert!(listener.redirect_uri().ends_with("/x/y"));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_path(mut self, path: &str) -> Self {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        self.path = format!("/{}", path.trim_start_matches('/'));
        self.redirect_uri = format!("{}{}", self.origin, self.path);
        self
    }

    /// Returns the redirect URI of this listener.
    pub fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    /// Waits for the callback of an authorization request, given its URL, and returns the URL of the callback.
    ///
    /// # Errors
    /// [`AuthError::LoginAborted`] after ten minutes.
    ///
    /// # Cancellation
    /// Dropping the future closes the connections; the listener stays open until it is dropped.
    pub async fn wait(&self, authorization_url: &str) -> Result<String, AuthError> {
        let query = authorization_url.split_once('?').map_or("", |(_, query)| query);
        let state = parameter(query, "state").unwrap_or_default();
        match timeout(LOGIN_TIMEOUT, self.serve(&state)).await {
            Ok(callback) => callback,
            Err(_) => Err(AuthError::LoginAborted("nobody finished it within ten minutes".to_owned())),
        }
    }

    /// Serves connections until one carries the callback.
    async fn serve(&self, state: &str) -> Result<String, AuthError> {
        let expected = Arc::new(ExpectedCallback { path: self.path.clone(), state: state.to_owned() });
        // Dropping it closes the connections that are left.
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                    let (stream, _) = accepted.map_err(|error| AuthError::LoginAborted(error.to_string()))?;
                    connections.spawn(serve_connection(stream, Arc::clone(&expected)));
                }
                Some(served) = connections.join_next() => {
                    if let Ok(Some(target)) = served {
                        return Ok(format!("{}{target}", self.origin));
                    }
                }
            }
        }
    }
}

/// The callback that ends the wait.
struct ExpectedCallback {
    path: String,
    state: String,
}

/// Answers one request; returns its target if it is the callback.
async fn serve_connection(mut stream: TcpStream, expected: Arc<ExpectedCallback>) -> Option<String> {
    let target = timeout(REQUEST_TIMEOUT, read_target(&mut stream)).await.ok()??;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let is_path = path == expected.path;
    let is_callback = is_path && parameter(query, "state").as_deref() == Some(&expected.state);
    let (status, page) = match (is_callback, is_path) {
        (true, _) => ("200 OK", FINISHED),
        (false, true) => ("400 Bad Request", TURNED_AWAY),
        (false, false) => ("404 Not Found", TURNED_AWAY),
    };
    // The browser may be gone; the callback counts all the same.
    _ = timeout(REQUEST_TIMEOUT, respond(&mut stream, status, page)).await;
    is_callback.then_some(target)
}

/// Reads the head of a request and returns its target; `None` if it is not a GET of reasonable size.
async fn read_target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut chunk = [0; 2048];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&chunk[..count]);
        if head.len() > MAX_REQUEST {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    (words.next() == Some("GET")).then(|| words.next().map(str::to_owned)).flatten()
}

async fn respond(stream: &mut TcpStream, status: &str, page: &str) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\n\
         content-security-policy: default-src 'none'; style-src 'unsafe-inline'\r\nconnection: close\r\n\r\n",
        page.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(page.as_bytes()).await?;
    stream.shutdown().await
}

/// Returns the port of a server in the dynamic range.
fn stable_port(server: &str) -> u16 {
    let hash = digest(&SHA256, server.as_bytes());
    let number = u16::from_be_bytes([hash.as_ref()[0], hash.as_ref()[1]]);
    49152 + number % 16384
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn get(listener: &LoopbackListener, target: &str) -> String {
        let mut stream = TcpStream::connect(listener.listener.local_addr().unwrap()).await.unwrap();
        stream.write_all(format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn only_the_callback_of_this_login_ends_the_wait() {
        let listener = LoopbackListener::bind("https://h.example/mcp", CallbackPort::Stable).await.unwrap();
        let waiting = listener.wait("https://as.example/authorize?state=s1&x=y");
        let visits = async {
            assert!(get(&listener, "/favicon.ico").await.starts_with("HTTP/1.1 404"));
            let wrong = get(&listener, "/callback?code=c&state=<script>").await;
            assert!(wrong.starts_with("HTTP/1.1 400") && !wrong.contains("script>"), "{wrong}");
            // A connection that sends something else does not end it either.
            let mut other = TcpStream::connect(listener.listener.local_addr().unwrap()).await.unwrap();
            other.write_all(b"POST /callback?state=s1 HTTP/1.1\r\n\r\n").await.unwrap();
            other.read_to_string(&mut String::new()).await.unwrap();
            get(&listener, "/callback?code=c0de&state=s1").await
        };
        let (callback, page) = tokio::join!(waiting, visits);
        assert_eq!(callback.unwrap(), format!("{}?code=c0de&state=s1", listener.redirect_uri()));
        assert!(page.starts_with("HTTP/1.1 200") && !page.contains("c0de"), "{page}");
    }

    #[tokio::test]
    async fn a_silent_connection_does_not_block_the_callback() {
        let listener =
            LoopbackListener::bind("https://silent.example/mcp", CallbackPort::Stable).await.unwrap();
        let waiting = listener.wait("https://as.example/authorize?state=s1");
        let visits = async {
            let silent = TcpStream::connect(listener.listener.local_addr().unwrap()).await.unwrap();
            assert!(get(&listener, "/favicon.ico").await.starts_with("HTTP/1.1 404"));
            let read = silent.try_read(&mut [0]).map_err(|error| error.kind());
            assert_eq!(read, Err(std::io::ErrorKind::WouldBlock), "the silent one is still served");
            get(&listener, "/callback?code=c0de&state=s1").await
        };
        let (callback, page) = tokio::join!(waiting, visits);
        assert!(callback.is_ok() && page.starts_with("HTTP/1.1 200"));
    }

    #[tokio::test]
    async fn another_path_replaces_the_usual_one() {
        let listener =
            LoopbackListener::bind("https://path.example/mcp", CallbackPort::Stable).await.unwrap();
        let listener = listener.with_path("/x/y");
        let waiting = listener.wait("https://as.example/authorize?state=s1");
        let visits = async {
            assert!(get(&listener, "/callback?code=c&state=s1").await.starts_with("HTTP/1.1 404"));
            get(&listener, "/x/y?code=c0de&state=s1").await
        };
        let (callback, _) = tokio::join!(waiting, visits);
        assert_eq!(callback.unwrap(), format!("{}?code=c0de&state=s1", listener.redirect_uri()));
    }

    #[tokio::test]
    async fn a_port_is_stable_and_falls_back_to_any() {
        let server = "https://stable.example/mcp";
        let first = LoopbackListener::bind(server, CallbackPort::Stable).await.unwrap();
        let second = LoopbackListener::bind(server, CallbackPort::Stable).await.unwrap();
        assert_ne!(first.redirect_uri(), second.redirect_uri());
        let taken = first.listener.local_addr().unwrap().port();
        let error = LoopbackListener::bind(server, CallbackPort::Fixed(taken)).await.unwrap_err();
        assert!(error.to_string().contains(&taken.to_string()));
    }
}
