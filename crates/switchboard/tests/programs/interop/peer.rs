//! A peer program, and proof that nothing of it is left behind.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use switchboard::client::ClientSession;
use switchboard::transport::CloseOutcome;
use switchboard::{Client, Stdio};

/// A server that others wrote, started for one test.
pub(crate) struct Peer {
    pub(crate) command: Stdio,
    mark: Mark,
}

/// Where a kind of peer is installed.
///
/// # Panics
/// When it is not: a test that cannot reach its peer has not been run.
pub(crate) fn place(variable: &str) -> PathBuf {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .unwrap_or_else(|| panic!("not run: {variable} is not set; use `cargo xtask ci --only interop`"))
}

impl Peer {
    /// A server from npm.
    pub(crate) fn node(name: &str, arguments: &[&str]) -> Self {
        let script = place("SWITCHBOARD_INTEROP_NODE").join("node_modules/.bin").join(name);
        Self::new("node", &[&[script.to_str().expect("a path in UTF-8")], arguments].concat())
    }

    /// A server from PyPI.
    pub(crate) fn python(name: &str, arguments: &[&str]) -> Self {
        Self::new(place("SWITCHBOARD_INTEROP_PYTHON").join("bin").join(name), arguments)
    }

    /// A program of the interop workspace.
    pub(crate) fn rmcp(variable: &str) -> Self {
        Self::new(place(variable), &[])
    }

    /// Any program. What it starts inherits the mark.
    pub(crate) fn new(program: impl AsRef<Path>, arguments: &[&str]) -> Self {
        let mark = Mark::new();
        let command = Stdio::new(program.as_ref()).args(arguments).env(Mark::VARIABLE, mark.text());
        Self { command, mark }
    }

    pub(crate) async fn connect(&self, client: &Client) -> ClientSession {
        client.connect(self.command.clone()).await.unwrap_or_else(|error| panic!("not connected: {error}"))
    }

    /// Closes the session and waits until no process of the peer is left.
    pub(crate) async fn stop(&self, session: ClientSession) -> CloseOutcome {
        self.mark.assert_found();
        let ended = session.close().await;
        self.mark.gone().await;
        ended
    }
}

/// What all processes of a peer carry in their environment, by which leftovers are found.
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) const VARIABLE: &str = "SWITCHBOARD_INTEROP_MARK";

    pub(crate) fn new() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        Self(format!(
            "mark-{}-{}-{:?}",
            std::process::id(),
            MADE.fetch_add(1, Ordering::Relaxed),
            Instant::now()
        ))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// A mark that finds nothing proves nothing.
    pub(crate) fn assert_found(&self) {
        assert!(!self.processes().is_empty(), "the mark must find the server while it runs");
    }

    /// Waits until no process of the peer is left.
    pub(crate) async fn gone(&self) {
        let deadline = Instant::now() + Duration::from_secs(6);
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "left behind: {left:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The processes that carry the mark.
    fn processes(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
            .filter(|entry| {
                let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
                environment.windows(self.0.len()).any(|window| window == self.0.as_bytes())
            })
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }
}
