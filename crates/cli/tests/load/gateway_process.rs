//! A running `switchboard gateway --http` with a home directory of its own.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;
use switchboard::client::{ClientHandler, ClientSession, RevisionPolicy};
use switchboard::{Client, Http};
use switchboard_testkit::{RunningCommand, processes_with_argument, wait_until};

const SWITCHBOARD: &str = env!("CARGO_BIN_EXE_switchboard");

/// The gateway and its files. Dropping it kills the gateway.
pub(crate) struct GatewayProcess {
    running: RunningCommand,
    url: String,
    home: tempfile::TempDir,
    keys: BTreeMap<&'static str, String>,
    /// An argument of every upstream process, by which leftovers are found.
    mark: String,
}

impl GatewayProcess {
    /// Creates the home directory with a key for each caller and starts the gateway; `servers` gets the directory and the
    /// mark.
    pub(crate) fn start(
        callers: &[&'static str],
        servers: impl FnOnce(&std::path::Path, &str) -> Value,
    ) -> Self {
        let home = tempfile::tempdir().unwrap();
        for folder in ["config/switchboard", "state", "project"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let mark = format!("mark-{}-{:?}", std::process::id(), Instant::now());
        let config = serde_json::json!({ "mcpServers": servers(home.path(), &mark) });
        std::fs::write(home.path().join("config/switchboard/mcp.json"), config.to_string()).unwrap();
        let keys = callers.iter().map(|caller| (*caller, create_key(&home, caller))).collect();
        let mut command = command(&home);
        command.args(["gateway", "--http", "127.0.0.1:0", "--api-keys"]).arg(home.path().join("keys.json"));
        let running = RunningCommand::start(command);
        let url = running.err.line_after("listening at ");
        Self { running, url, home, keys, mark }
    }

    /// Returns a path below the home directory.
    pub(crate) fn at(&self, below: &str) -> PathBuf {
        self.home.path().join(below)
    }

    /// Connects a client of this caller.
    pub(crate) async fn connect(
        &self,
        caller: &str,
        revisions: RevisionPolicy,
        handler: impl ClientHandler,
    ) -> ClientSession {
        let key = format!("Bearer {}", self.keys[caller]);
        let client = Client::new().with_revisions(revisions).with_answers(handler);
        let session = client.connect(Http::new(&self.url).header("authorization", key)).await;
        session.unwrap_or_else(|error| panic!("{caller} is not connected: {error}"))
    }

    /// Returns the resident memory of the gateway in KiB.
    pub(crate) fn memory_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.running.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
    }

    /// Returns the number of descriptors that the gateway has open.
    pub(crate) fn descriptor_count(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.running.child.id())).unwrap().count()
    }

    /// Returns the processes of upstream servers, with their supervisors.
    pub(crate) fn upstream_processes(&self) -> Vec<u32> {
        processes_with_argument(&self.mark)
    }

    /// Ends the gateway as an operator does; no upstream process is left.
    pub(crate) async fn stop(mut self) {
        assert!(!self.upstream_processes().is_empty(), "the mark must find the servers while they run");
        self.running.terminate();
        assert_eq!(self.running.wait().code(), Some(0), "it drains and ends");
        wait_until("the end of all upstream processes", || processes_with_argument(&self.mark).is_empty())
            .await;
    }
}

fn command(home: &tempfile::TempDir) -> Command {
    let mut command = Command::new(SWITCHBOARD);
    command
        .env("HOME", home.path())
        .env("XDG_CONFIG_HOME", home.path().join("config"))
        .env("XDG_STATE_HOME", home.path().join("state"))
        .current_dir(home.path().join("project"));
    command
}

fn create_key(home: &tempfile::TempDir, principal: &str) -> String {
    let mut create = command(home);
    create.args(["key", "create", principal, "--file"]).arg(home.path().join("keys.json"));
    let created = switchboard_testkit::run_command(create, "");
    let key = created.out.split_whitespace().find(|word| word.starts_with("sbk_"));
    key.unwrap_or_else(|| panic!("{}", created.err)).to_owned()
}
