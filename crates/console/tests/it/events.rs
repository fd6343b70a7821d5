//! The event stream.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::RunningConsole;

const LIMIT: Duration = Duration::from_secs(20);

/// A client that reads the stream.
struct StreamClient {
    stream: TcpStream,
    text: String,
}

impl StreamClient {
    async fn open(console: &RunningConsole, key: &str, headers: &str) -> Self {
        let mut stream = TcpStream::connect(console.address).await.unwrap();
        let request = format!(
            "GET /api/events HTTP/1.1\r\nHost: {}\r\n{key}Accept: text/event-stream\r\n{headers}\r\n",
            console.address
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut client = Self { stream, text: String::new() };
        client.read_until("\n\n").await;
        client
    }

    /// Reads until the text contains this, and returns it.
    async fn read_until(&mut self, wanted: &str) -> &str {
        let read = async {
            while !self.text.contains(wanted) {
                let mut piece = [0; 4096];
                let count = self.stream.read(&mut piece).await.unwrap();
                assert_ne!(count, 0, "the stream ended after {:?}", self.text);
                self.text.push_str(std::str::from_utf8(&piece[..count]).unwrap());
            }
        };
        tokio::time::timeout(LIMIT, read).await.expect("an event in time");
        &self.text
    }

    /// Reads until the console ends the stream.
    async fn read_to_end(&mut self) {
        let mut rest = Vec::new();
        tokio::time::timeout(LIMIT, self.stream.read_to_end(&mut rest)).await.unwrap().unwrap();
    }
}

/// Publishes an event: clearing the traffic does.
async fn publish(console: &RunningConsole, key: &str) {
    assert_eq!(console.post("/api/traffic/clear", key, "{}").await.status, 200);
}

#[tokio::test]
async fn a_stream_without_a_number_begins_with_the_next_event() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    publish(&console, &key).await;
    let mut client = StreamClient::open(&console, &key, "").await;
    assert!(client.text.contains("content-type: text/event-stream\r\n"), "{}", client.text);
    assert!(client.text.contains("cache-control: no-store\r\n"));
    publish(&console, &key).await;
    let text = client.read_until("id: 2\n").await;
    assert!(!text.contains("id: 1\n"), "{text}");
    client.read_until("data: {\"type\":\"trafficCleared\",").await;
    drop(client);
    console.stop().await;
}

#[tokio::test]
async fn a_stream_resumes_after_the_last_event() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    for _ in 0..3 {
        publish(&console, &key).await;
    }
    let mut client = StreamClient::open(&console, &key, "Last-Event-ID: 1\r\n").await;
    let text = client.read_until("id: 3\n").await;
    assert!(text.contains("id: 2\n") && !text.contains("id: 1\n") && !text.contains("gap"), "{text}");
    drop(client);
    console.stop().await;
}

#[tokio::test]
async fn a_number_of_another_process_is_a_gap() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    publish(&console, &key).await;
    let mut client = StreamClient::open(&console, &key, "Last-Event-ID: 4711\r\n").await;
    client.read_until("id: 1\ndata: {\"type\":\"gap\",\"lost\":1}\n\n").await;
    publish(&console, &key).await;
    client.read_until("id: 2\ndata: {\"type\":\"trafficCleared\",").await;
    drop(client);
    for number in ["-1", "1.5", "one", "99999999999999999999"] {
        let reply = console.get("/api/events", &format!("{key}Last-Event-ID: {number}\r\n")).await;
        reply.assert_error(400, "invalid_request");
    }
    console.stop().await;
}

#[tokio::test]
async fn streams_are_limited_and_free_their_place() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    let mut clients = Vec::new();
    for _ in 0..16 {
        clients.push(StreamClient::open(&console, &key, "").await);
    }
    console.get("/api/events", &key).await.assert_error(429, "too_many_streams");
    // Other requests are not affected.
    assert_eq!(console.get("/api/traffic", &key).await.status, 200);
    clients.pop();
    let freed = async {
        loop {
            let request = format!("GET /api/events HTTP/1.1\r\nHost: {}\r\n{key}\r\n", console.address);
            let mut stream = TcpStream::connect(console.address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut head = [0; 15];
            stream.read_exact(&mut head).await.unwrap();
            if head == *b"HTTP/1.1 200 OK" {
                break;
            }
        }
    };
    tokio::time::timeout(LIMIT, freed).await.unwrap();
    drop(clients);
    console.stop().await;
}

#[tokio::test]
async fn streams_end_with_the_console() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    let mut client = StreamClient::open(&console, &key, "").await;
    console.stop().await;
    client.read_to_end().await;
}

#[tokio::test]
async fn a_stream_needs_a_key() {
    let console = RunningConsole::start(|builder| builder).await;
    console.get("/api/events", "").await.assert_error(401, "key_expired");
    console.stop().await;
}
