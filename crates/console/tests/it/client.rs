//! A console on a free port, and a client that sends exactly the bytes it is given.

use std::net::SocketAddr;
use std::time::Duration;

use switchboard::Host;
use switchboard_console::{Console, ConsoleBuilder, ConsoleLinks};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

const LIMIT: Duration = Duration::from_secs(20);

/// A console that is served.
pub(crate) struct RunningConsole {
    pub(crate) address: SocketAddr,
    pub(crate) links: ConsoleLinks,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl RunningConsole {
    pub(crate) async fn start(configure: impl FnOnce(ConsoleBuilder) -> ConsoleBuilder) -> Self {
        let builder = configure(Console::builder(Host::new()));
        let console = builder.bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        let (address, links) = (console.address(), console.links());
        let serving = tokio::spawn(console.serve(async { drop(stopped.await) }));
        Self { address, links, stop, serving }
    }

    /// Stops the console and waits until it has ended.
    pub(crate) async fn stop(self) {
        self.stop.send(()).unwrap();
        tokio::time::timeout(LIMIT, self.serving).await.unwrap().unwrap();
    }

    pub(crate) fn token(&self) -> String {
        self.links.create().unwrap().split_once("#token=").unwrap().1.to_owned()
    }

    pub(crate) async fn exchange(&self, token: &str) -> RawReply {
        self.post("/api/key", "", &format!("{{\"token\":\"{token}\"}}")).await
    }

    /// Returns the header with a new key.
    pub(crate) async fn key_header(&self) -> String {
        let reply = self.exchange(&self.token()).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        format!("Authorization: Bearer {}\r\n", reply.member("key"))
    }

    pub(crate) async fn get(&self, path: &str, headers: &str) -> RawReply {
        let address = self.address;
        self.send(format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Connection: close\r\n\r\n"))
            .await
    }

    pub(crate) async fn post(&self, path: &str, headers: &str, body: &str) -> RawReply {
        self.post_as("application/json", path, headers, body).await
    }

    pub(crate) async fn post_as(&self, media: &str, path: &str, headers: &str, body: &str) -> RawReply {
        let (address, length) = (self.address, body.len());
        self.send(format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: {media}\r\nContent-Length: {length}\r\n\
             {headers}Connection: close\r\n\r\n{body}"
        ))
        .await
    }

    /// Sends bytes and reads until the console closes the connection.
    pub(crate) async fn send(&self, request: impl AsRef<[u8]>) -> RawReply {
        let exchange = async {
            let mut stream = TcpStream::connect(self.address).await.unwrap();
            // The console may answer and close before it has read everything.
            let _ = stream.write_all(request.as_ref()).await;
            let mut bytes = Vec::new();
            let mut piece = vec![0; 16 * 1024];
            while let Ok(count) = stream.read(&mut piece).await {
                if count == 0 {
                    break;
                }
                bytes.extend_from_slice(&piece[..count]);
            }
            RawReply::parse(&bytes)
        };
        tokio::time::timeout(LIMIT, exchange).await.unwrap()
    }
}

/// A response as it was sent.
#[derive(Debug)]
pub(crate) struct RawReply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl RawReply {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a response has a head");
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, body: bytes[end + 4..].to_vec() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        let mut values = lines.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        let value = values.next();
        assert!(values.next().is_none(), "`{name}` is there twice");
        value
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn member(&self, name: &str) -> String {
        self.json()[name].as_str().unwrap().to_owned()
    }

    /// Returns the status and the code of an error.
    pub(crate) fn error(&self) -> (u16, String) {
        (self.status, self.member("code"))
    }

    /// Asserts that this is an error with the headers that every response has.
    #[track_caller]
    pub(crate) fn assert_error(&self, status: u16, code: &str) {
        assert_eq!(self.error(), (status, code.to_owned()));
        self.assert_security_headers();
    }

    #[track_caller]
    pub(crate) fn assert_security_headers(&self) {
        let policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      media-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";
        assert_eq!(self.header("content-security-policy"), Some(policy));
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(self.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(self.header("cross-origin-opener-policy"), Some("same-origin"));
        assert_eq!(self.header("cross-origin-resource-policy"), Some("same-origin"));
        assert_eq!(self.header("set-cookie"), None);
        assert_eq!(self.header("access-control-allow-origin"), None);
        assert!(self.header("cache-control").is_some());
    }
}
