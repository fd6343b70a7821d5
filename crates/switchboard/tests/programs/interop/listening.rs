//! A server that others wrote and that listens on 127.0.0.1, started for one test and stopped by its process id.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use switchboard::client::ClientSession;
use switchboard::client::HttpBinding;
use switchboard::{Client, Http};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::interop::peer::{Mark, place};

/// A server at an address.
pub(crate) struct Listening {
    child: Child,
    url: String,
    mark: Mark,
    said: Arc<watch::Sender<String>>,
}

impl Listening {
    /// `server-everything` in one of its modes.
    pub(crate) async fn everything(mode: &str, path: &str) -> Self {
        let node = place("SWITCHBOARD_INTEROP_NODE");
        // By itself it listens on every interface, and does not tell a port that the system chose.
        let mut command = Command::new("node");
        command.arg("--import").arg(node.join("loopback.mjs"));
        command.arg(node.join("node_modules/.bin/mcp-server-everything")).arg(mode).env("PORT", "0");
        Self::start(command, path).await
    }

    /// The server written with the TypeScript SDK, in one of its forms.
    pub(crate) async fn typescript(form: &str) -> Self {
        let mut command = Command::new("node");
        command.arg(place("SWITCHBOARD_INTEROP_NODE").join("ts-server.mjs")).args([form, "0"]);
        Self::start(command, "/mcp").await
    }

    /// The server written with Python's `mcp`, in one of its forms.
    pub(crate) async fn python(form: &str) -> Self {
        let mut command = python("py_server.py");
        command.args([form, "0"]);
        Self::start(command, "/mcp").await
    }

    /// Our own server.
    pub(crate) async fn ours(program: &Path) -> Self {
        let mut command = Command::new(program);
        command.args(["--http", "127.0.0.1:0"]);
        Self::start(command, "/mcp").await
    }

    /// The assistant of our examples.
    pub(crate) async fn assistant() -> Self {
        let mut command = Command::new(place("SWITCHBOARD_INTEROP_ASSISTANT"));
        command.args(["serve", "--http", "127.0.0.1:0"]);
        Self::start(command, "/mcp").await
    }

    /// Starts a program that tells its port.
    pub(crate) async fn start(mut command: Command, path: &str) -> Self {
        let mark = Mark::new();
        let mut child = command
            .env(Mark::VARIABLE, mark.text())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("not started: {command:?}: {error}"));
        let said = Arc::new(watch::Sender::new(String::new()));
        tokio::spawn(hear(child.stdout.take().expect("it was piped"), Arc::clone(&said)));
        tokio::spawn(hear(child.stderr.take().expect("it was piped"), Arc::clone(&said)));
        let mut hearing = said.subscribe();
        let port = async {
            loop {
                if let Some(port) = port(&hearing.borrow_and_update()) {
                    return port;
                }
                hearing.changed().await.expect("the sender is above");
            }
        };
        let port = tokio::time::timeout(Duration::from_secs(30), port).await;
        let port = port.unwrap_or_else(|_| panic!("no port was told: {}", said.borrow().as_str()));
        Self { child, url: format!("http://127.0.0.1:{port}{path}"), mark, said }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) async fn connect(&self, client: &Client, way: HttpBinding) -> ClientSession {
        let server = Http::new(&self.url).binding(way);
        client.connect(server).await.unwrap_or_else(|error| {
            panic!("not connected: {error}; the server said: {}", self.said.borrow().as_str())
        })
    }

    /// Waits until the server has printed one of these.
    pub(crate) async fn says(&self, words: &[&str]) {
        let mut hearing = self.said.subscribe();
        let heard = hearing.wait_for(|said| words.iter().any(|word| said.contains(word)));
        let heard = tokio::time::timeout(Duration::from_secs(5), heard).await.is_ok();
        assert!(heard, "none of {words:?} in: {}", self.said.borrow().as_str());
    }

    /// Asks it to end, and waits until no process of it is left.
    pub(crate) async fn stop(mut self) {
        self.mark.assert_found();
        let id =
            self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        let id = id.unwrap_or_else(|| panic!("it ended by itself: {}", self.said.borrow().as_str()));
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        let ended = tokio::time::timeout(Duration::from_secs(5), self.child.wait()).await;
        assert!(ended.is_ok(), "it did not end when asked to");
        self.mark.gone().await;
    }
}

/// One of the programs in `interop/python`, with the interpreter that has what it needs.
pub(crate) fn python(program: &str) -> Command {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../interop/python");
    let mut command = Command::new(place("SWITCHBOARD_INTEROP_PYTHON").join("bin/python"));
    // No compiled copies beside the sources.
    command.arg("-B").arg(folder.join(program));
    command
}

async fn hear(output: impl AsyncRead + Unpin, said: Arc<watch::Sender<String>>) {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        said.send_modify(|said| {
            said.push_str(&line);
            said.push('\n');
        });
    }
}

/// The port in `listening on port 4711`, or in an address after `serving on` or `listening at`.
fn port(said: &str) -> Option<u16> {
    said.lines().find_map(|line| {
        let rest = line
            .strip_prefix("listening on port ")
            .or_else(|| line.strip_prefix("serving on http://127.0.0.1:"))
            .or_else(|| line.strip_prefix("listening at http://127.0.0.1:"));
        rest?.split('/').next()?.parse().ok()
    })
}
