//! A user of the command line with a home directory of their own, and their browser.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use switchboard::auth::{FileStore, StoredGrant, SwapOutcome, TokenStore};
use switchboard_testkit::{CommandOutput, RunningCommand, run_command};

use crate::interop::peer::{Mark, place};

/// A program that shows a page to the user, who logs in and agrees.
#[derive(Clone, Copy)]
pub(crate) enum Browser {
    /// Headless Chromium.
    Chromium,
    /// A program that fills in forms.
    Form,
    /// A program that follows the link `Cancel` of the first form.
    Cancelling,
}

impl Browser {
    /// Returns the command that visits a page.
    pub(crate) fn command(self) -> Command {
        let node = place("SWITCHBOARD_INTEROP_NODE");
        let mut command = Command::new("node");
        match self {
            Self::Chromium => {
                command.arg(node.join("chromium-login.mjs")).arg(place("SWITCHBOARD_INTEROP_CHROMIUM"))
            }
            Self::Form => command.arg(node.join("login-form.mjs")),
            Self::Cancelling => command.arg(node.join("login-form.mjs")).arg("--cancel"),
        };
        command
    }

    /// Visits a page until nothing is left to fill in.
    pub(crate) async fn visit(self, url: &str) -> CommandOutput {
        let mark = Mark::new();
        let mut command = self.command();
        command.arg(url).env(Mark::VARIABLE, mark.text());
        let visit = tokio::task::spawn_blocking(move || {
            let output = command.output().unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            CommandOutput {
                code: output.status.code().unwrap_or(-1),
                out: text(&output.stdout),
                err: text(&output.stderr),
            }
        });
        let visited = visit.await.unwrap();
        mark.gone().await;
        visited
    }
}

/// A user with a home directory of their own, and no display.
pub(crate) struct User {
    home: tempfile::TempDir,
}

impl User {
    pub(crate) fn new() -> Self {
        let user = Self { home: tempfile::tempdir().unwrap() };
        for folder in ["config/switchboard", "state", "project"] {
            std::fs::create_dir_all(user.at(folder)).unwrap();
        }
        user
    }

    /// Returns a path below the home directory.
    pub(crate) fn at(&self, below: &str) -> PathBuf {
        self.home.path().join(below)
    }

    /// Configures a server in the user's file.
    pub(crate) fn configure(&self, name: &str, entry: &Value) {
        let file = json!({ "mcpServers": { name: entry } });
        std::fs::write(self.at("config/switchboard/mcp.json"), file.to_string()).unwrap();
    }

    /// Returns a command of `switchboard`.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(place("SWITCHBOARD_INTEROP_COMMAND_LINE"));
        command
            .args(args)
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.at("config"))
            .env("XDG_STATE_HOME", self.at("state"))
            .env("COLUMNS", "200")
            .current_dir(self.at("project"));
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs a command to its end.
    pub(crate) async fn run(&self, args: &[&str]) -> CommandOutput {
        let command = self.command(args);
        tokio::task::spawn_blocking(move || run_command(command, "")).await.unwrap()
    }

    /// Runs a command that must succeed, and returns its output.
    pub(crate) async fn run_ok(&self, args: &[&str]) -> String {
        let ran = self.run(args).await;
        assert_eq!(ran.code, 0, "{args:?}: {} {}", ran.out, ran.err);
        ran.out
    }

    /// Starts a login and visits its page with this browser. Returns what the login and the browser printed.
    pub(crate) async fn log_in(&self, browser: Browser, args: &[&str]) -> (CommandOutput, CommandOutput) {
        let command = self.command(&[&["login"], args].concat());
        let mut login = RunningCommand::start(command);
        let page = login.err.clone();
        let url =
            tokio::task::spawn_blocking(move || page.line_after("Open this page:\n\n  ")).await.unwrap();
        let visited = browser.visit(&url).await;
        let ended = move || {
            let code = login.wait().code().unwrap();
            CommandOutput { code, out: login.out.all(), err: login.err.all() }
        };
        (tokio::task::spawn_blocking(ended).await.unwrap(), visited)
    }

    /// Logs in, which must succeed.
    pub(crate) async fn log_in_ok(&self, browser: Browser, args: &[&str]) -> String {
        let (login, visited) = self.log_in(browser, args).await;
        assert_eq!(login.code, 0, "{} {} {} {}", login.out, login.err, visited.out, visited.err);
        login.out
    }

    /// Returns the only login in the token store.
    pub(crate) async fn only_grant(&self) -> StoredGrant {
        let [grant] = self.store().list().await.unwrap().try_into().unwrap();
        grant
    }

    /// Makes the access token of the only login expire an hour ago.
    pub(crate) async fn expire(&self) {
        let mut stored = self.only_grant().await;
        let expired_at = SystemTime::now() - Duration::from_secs(3600);
        stored.grant.expires_at = Some(expired_at);
        stored.grant.obtained_at = expired_at - Duration::from_secs(3600);
        let outcome =
            self.store().compare_and_set(&stored.key, Some(stored.generation), Some(stored.grant)).await;
        assert!(matches!(outcome, Ok(SwapOutcome::Written(_))), "{outcome:?}");
    }

    /// Opens the token store of the user.
    pub(crate) fn store(&self) -> Arc<FileStore> {
        Arc::new(FileStore::open(self.at("state/switchboard/auth")).unwrap())
    }
}
