//! A server on loopback, behind a front that writes down what comes in and may ask for a token.

use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_session::server::Server;
use switchboard_transport::http::server::{HttpListener, HttpServerOptions, HttpService, LegacySse};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A server on loopback. Everything ends when it is dropped.
pub(crate) struct Web {
    /// Where the front listens, without a path.
    pub(crate) url: String,
    /// Everything clients sent, as text.
    pub(crate) said: Arc<Mutex<String>>,
    /// The token that is wanted, if any.
    pub(crate) token: Arc<Mutex<Option<String>>>,
    _tasks: JoinSet<()>,
}

impl Web {
    pub(crate) async fn open(server: &Arc<Server>) -> Self {
        Self::open_at(server, "127.0.0.1:0").await
    }

    pub(crate) async fn open_at(server: &Arc<Server>, address: &str) -> Self {
        let front = TcpListener::bind(address).await.unwrap();
        let mut tasks = JoinSet::new();
        let mut options = HttpServerOptions::default();
        options.legacy_sse = Some(LegacySse::default());
        let behind = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = behind.address().unwrap();
        tasks.spawn(behind.serve(HttpService::new(server, options)));
        let url = format!("http://{}", front.local_addr().unwrap());
        let (said, token) = (Arc::default(), Arc::default());
        let (hears, wants): (Arc<Mutex<String>>, Arc<Mutex<Option<String>>>) =
            (Arc::clone(&said), Arc::clone(&token));
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (client, _) = front.accept().await.unwrap();
                let (hears, wants) = (Arc::clone(&hears), wants.lock().clone());
                connections.spawn(async move {
                    // A connection that breaks is its client's business.
                    let _ = pass(client, address, &hears, wants).await;
                });
            }
        });
        Self { url, said, token, _tasks: tasks }
    }
}

async fn pass(
    mut client: TcpStream,
    behind: std::net::SocketAddr,
    said: &Mutex<String>,
    token: Option<String>,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        if client.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
    }
    said.lock().push_str(&String::from_utf8_lossy(&head));
    let is_let_in = token.is_none_or(|token| {
        String::from_utf8_lossy(&head).contains(&format!("authorization: Bearer {token}\r\n"))
    });
    if !is_let_in {
        let refusal = "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer realm=\"toy\", scope=\"read\"\r\n\
                       content-length: 0\r\nconnection: close\r\n\r\n";
        return client.write_all(refusal.as_bytes()).await;
    }
    let mut server = TcpStream::connect(behind).await?;
    server.write_all(&head).await?;
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let inward = async {
        let mut chunk = vec![0; 64 * 1024];
        loop {
            let read = from_client.read(&mut chunk).await?;
            if read == 0 {
                return to_server.shutdown().await;
            }
            said.lock().push_str(&String::from_utf8_lossy(&chunk[..read]));
            to_server.write_all(&chunk[..read]).await?;
        }
    };
    let outward = async { tokio::io::copy(&mut from_server, &mut to_client).await.map(drop) };
    tokio::try_join!(inward, outward).map(drop)
}
