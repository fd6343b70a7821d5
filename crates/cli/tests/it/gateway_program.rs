//! A running gateway, and a client that speaks HTTP by hand.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use serde_json::{Value, json};
use switchboard_testkit::{CommandOutput, RunningCommand, STEP_TIMEOUT, run_command};

use crate::commands::{SWITCHBOARD, switchboard};
use crate::home::Home;

/// A gateway with a configuration file.
pub(crate) struct ConfiguredGateway {
    pub(crate) home: Home,
    pub(crate) running: RunningCommand,
    /// `http://127.0.0.1:PORT/mcp`.
    pub(crate) url: String,
    /// How much of its messages was read.
    seen: Cell<usize>,
}

/// The part of a configuration that listens on a free port, and a server `one`.
pub(crate) fn base_config() -> String {
    format!("[listen]\nhttp = \"127.0.0.1:0\"\n{}", demo_server("one"))
}

/// A table with the demo server.
pub(crate) fn demo_server(name: &str) -> String {
    format!("[servers.{name}]\ncommand = {SWITCHBOARD:?}\nargs = [\"demo-server\"]\n")
}

impl ConfiguredGateway {
    /// Starts a gateway with this configuration.
    pub(crate) fn start(config: &str) -> Self {
        Self::start_in(Home::new(), config, &[])
    }

    /// Starts a gateway in a home, with further arguments.
    pub(crate) fn start_in(home: Home, config: &str, args: &[&str]) -> Self {
        write_config(&home, config);
        let file = home.at("gateway.toml").display().to_string();
        let running = RunningCommand::start(home.command(&[&["gateway", "--config", &file], args].concat()));
        let url = running.err.line_after("listening at ");
        Self { home, running, url, seen: Cell::new(0) }
    }

    /// Replaces the configuration, and waits until the gateway has written this text.
    pub(crate) fn reload(&self, config: &str, expected: &str) {
        write_config(&self.home, config);
        self.seen.set(self.running.err.wait_for(expected, self.seen.get()));
    }

    /// Stops the gateway and returns all its messages.
    pub(crate) fn stop(mut self) -> String {
        self.running.terminate();
        assert_eq!(self.running.wait().code(), Some(0));
        self.running.err.all()
    }

    /// Runs a command against the gateway.
    pub(crate) fn run(&self, args: &[&str]) -> CommandOutput {
        run_command(switchboard([args, &["--url", &self.url]].concat()), "")
    }

    /// Waits until a tool is listed.
    pub(crate) fn wait_for_tool(&self, name: &str) {
        while !self.run(&["tools"]).out.contains(name) {
            std::thread::yield_now();
        }
    }

    pub(crate) fn address(&self) -> &str {
        self.url.split("://").nth(1).unwrap().trim_end_matches("/mcp")
    }

    /// Returns the status and the body of a plain request.
    pub(crate) fn get(&self, path: &str) -> (String, String) {
        let mut stream = connect(self.address());
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap_or_default().to_owned();
        (status, answer.rsplit("\r\n\r\n").next().unwrap_or_default().to_owned())
    }
}

/// Writes the configuration as an editor does: a new file over the old one.
pub(crate) fn write_config(home: &Home, config: &str) {
    let draft = home.at("draft.toml");
    std::fs::write(&draft, config).unwrap();
    std::fs::rename(draft, home.at("gateway.toml")).unwrap();
}

/// Writes a private file.
pub(crate) fn write_private(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(STEP_TIMEOUT)).unwrap();
    stream
}

/// A legacy client whose questions the test answers when it wants to.
pub(crate) struct LegacyClient {
    address: String,
    session: String,
}

/// A call of a [`LegacyClient`] that waits for the answer to a question.
pub(crate) struct AskingCall {
    stream: TcpStream,
    received: String,
    question: Value,
}

impl LegacyClient {
    pub(crate) fn connect(address: &str) -> Self {
        let mut client = Self { address: address.to_owned(), session: String::new() };
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "test", "version": "1" },
        });
        let opening = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let (_, answer) = client.post(&opening, "\"serverInfo\"");
        let header = answer.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id:")).unwrap();
        client.session = header.split_once(':').unwrap().1.trim().to_owned();
        client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), " 202 ");
        client
    }

    /// Posts a message, and reads until the answer contains this text.
    fn post(&self, message: &Value, until: &str) -> (TcpStream, String) {
        let mut stream = connect(&self.address);
        let body = message.to_string();
        let session = match self.session.as_str() {
            "" => String::new(),
            id => format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n"),
        };
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, \
             text/event-stream\r\n{session}content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut received = String::new();
        read_until(&mut stream, &mut received, until);
        (stream, received)
    }

    /// Calls a tool that asks a question, and waits for the question.
    pub(crate) fn call_until_question(&self, tool: &str) -> AskingCall {
        let call = json!({
            "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": tool, "arguments": {} },
        });
        let (stream, received) = self.post(&call, "elicitation/create");
        let mut asking = AskingCall { stream, received, question: Value::Null };
        asking.question = asking.message_with("elicitation/create");
        asking
    }

    /// Answers the question of a call and returns its result.
    pub(crate) fn answer(&self, mut call: AskingCall, content: Value) -> Value {
        let result = json!({ "action": "accept", "content": content });
        let answer = json!({ "jsonrpc": "2.0", "id": call.question["id"], "result": result });
        self.post(&answer, " 202 ");
        read_until(&mut call.stream, &mut call.received, "\"id\":2");
        call.message_with("\"id\":2")
    }
}

impl AskingCall {
    /// Returns the message of the event that contains this text.
    fn message_with(&mut self, text: &str) -> Value {
        loop {
            let is_event = |line: &&str| line.starts_with("data:") && line.contains(text);
            let line = self.received.lines().find(is_event).map(|line| line.trim_start_matches("data:"));
            if let Some(message) = line.and_then(|line| serde_json::from_str(line.trim()).ok()) {
                return message;
            }
            read_more(&mut self.stream, &mut self.received);
        }
    }
}

fn read_until(stream: &mut TcpStream, received: &mut String, text: &str) {
    while !received.contains(text) {
        read_more(stream, received);
    }
}

fn read_more(stream: &mut TcpStream, received: &mut String) {
    let mut buffer = [0; 4096];
    let count = stream.read(&mut buffer).unwrap();
    assert_ne!(count, 0, "the connection ended after {received:?}");
    received.push_str(&String::from_utf8_lossy(&buffer[..count]));
}
