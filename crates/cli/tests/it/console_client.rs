//! A running console, and requests to its API.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_testkit::RunningCommand;

use crate::home::Home;
use crate::login_steps::without_browser;

/// How long a test waits for something to become so.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A running console, with a key.
pub(crate) struct Console {
    pub(crate) command: RunningCommand,
    pub(crate) address: String,
    pub(crate) token_file: PathBuf,
    pub(crate) key: String,
}

/// A response of the API.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the code of an error.
    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Console {
    /// Starts a console for the servers of this home and exchanges its token for a key.
    pub(crate) fn start(home: &Home, args: &[&str]) -> Self {
        let args = [&["console", "--json"], args].concat();
        let mut command = without_browser(home, &args);
        command.env_remove("XDG_RUNTIME_DIR");
        let command = RunningCommand::start(command);
        let line = format!("{{\"address\":{}", command.out.line_after("{\"address\":"));
        let line: Value = serde_json::from_str(&line).unwrap();
        let address = line["address"].as_str().unwrap().to_owned();
        let token_file = PathBuf::from(line["tokenFile"].as_str().unwrap());
        Self::connect(command, address, token_file)
    }

    /// Exchanges the token in this file for a key.
    pub(crate) fn connect(command: RunningCommand, address: String, token_file: PathBuf) -> Self {
        let token = std::fs::read_to_string(&token_file).unwrap();
        let mut console = Self { command, address, token_file, key: String::new() };
        let reply = console.post("/api/key", &json!({ "token": token }));
        assert_eq!(reply.status, 200, "{reply:?}");
        console.key = reply.json()["key"].as_str().unwrap().to_owned();
        console
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.request("GET", path, None, &[])
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.request("POST", path, Some(&body.to_string()), &[])
    }

    /// Sends a request with further headers, which win.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        body: Option<&str>,
        headers: &[(&str, &str)],
    ) -> Reply {
        let host = self.address.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let bearer = format!("Bearer {}", self.key);
        let mut all = vec![("host", host), ("connection", "close")];
        if !self.key.is_empty() {
            all.push(("authorization", &bearer));
        }
        if body.is_some() {
            all.push(("content-type", "application/json"));
        }
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        let body = body.unwrap_or_default();
        let mut head = format!("{method} {path} HTTP/1.1\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in all.iter().chain(headers) {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        read_reply(stream)
    }

    /// Returns a server of the snapshot.
    pub(crate) fn server(&self, name: &str) -> Option<Value> {
        let snapshot = self.get("/api/snapshot").json();
        snapshot["servers"].as_array().unwrap().iter().find(|server| server["name"] == name).cloned()
    }

    /// Waits until a server has this state, and returns it.
    pub(crate) fn wait_for_state(&self, name: &str, state: &str) -> Value {
        wait_for(&format!("{name} {state}"), || {
            self.server(name).filter(|server| server["state"]["type"] == state)
        })
    }

    /// Returns the events after this number, until one is accepted.
    pub(crate) fn events_until(&self, after: u64, is_last: impl Fn(&Value) -> bool) -> Vec<Value> {
        let host = self.address.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        write!(
            stream,
            "GET /api/events HTTP/1.1\r\nhost: {host}\r\naccept: text/event-stream\r\nauthorization: Bearer {}\r\n\
             last-event-id: {after}\r\n\r\n",
            self.key
        )
        .unwrap();
        let mut events = Vec::new();
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            let Some(data) = line.strip_prefix("data: ") else { continue };
            let event: Value = serde_json::from_str(data).unwrap();
            let is_done = is_last(&event);
            events.push(event);
            if is_done {
                return events;
            }
        }
        panic!("the stream ended: {events:?}");
    }

    /// Sends SIGTERM and waits for the end; returns the exit code and what was printed.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        self.command.terminate();
        let code = self.command.wait().code();
        (code, self.command.out.all() + &self.command.err.all())
    }
}

/// Waits, bounded, until this returns something.
pub(crate) fn wait_for<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let ends = Instant::now() + TIMEOUT;
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(Instant::now() < ends, "not so within {TIMEOUT:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn read_reply(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split_whitespace().nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if is_chunked { join_chunks(body) } else { body.to_owned() };
    Reply { status, body }
}

fn join_chunks(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or_default();
        if size == 0 {
            break;
        }
        body += &after[..size];
        rest = after[size..].trim_start_matches("\r\n");
    }
    body
}
