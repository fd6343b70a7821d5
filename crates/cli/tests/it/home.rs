//! Temporary home directory with a project, so that no test touches a real one.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use switchboard_testkit::{CommandOutput, run_command};

use crate::commands::{SWITCHBOARD, switchboard};

/// A temporary home directory with a project.
pub(crate) struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["config/switchboard", "state", "project/.git"] {
            std::fs::create_dir_all(home.at(folder)).unwrap();
        }
        home
    }

    /// Creates a home with these servers in the user's file.
    pub(crate) fn with(servers: Value) -> Self {
        let home = Self::new();
        home.write("config/switchboard/mcp.json", &json!({ "mcpServers": servers }));
        home
    }

    /// Returns a path below the home directory.
    pub(crate) fn at(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    pub(crate) fn write(&self, below: &str, value: &Value) {
        let path = self.at(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{value:#}\n")).unwrap();
    }

    pub(crate) fn read(&self, below: &str) -> String {
        std::fs::read_to_string(self.at(below)).unwrap()
    }

    /// Returns the servers of a file.
    pub(crate) fn servers(&self, below: &str) -> Value {
        serde_json::from_str::<Value>(&self.read(below)).unwrap()["mcpServers"].clone()
    }

    /// Returns the command for this user, in the project's directory.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = switchboard(args);
        command
            .env("HOME", self.folder.path())
            .env("XDG_CONFIG_HOME", self.at("config"))
            .env("XDG_STATE_HOME", self.at("state"))
            .env("COLUMNS", "200")
            .current_dir(self.at("project"));
        command
    }

    /// Runs a command to its end, without a terminal.
    pub(crate) fn run(&self, args: &[&str]) -> CommandOutput {
        run_command(self.command(args), "")
    }

    /// Runs a command that must succeed.
    pub(crate) fn run_ok(&self, args: &[&str]) -> CommandOutput {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "{args:?}: {} {}", ran.out, ran.err);
        ran
    }
}

/// Returns the configuration entry of the demo server.
pub(crate) fn demo() -> Value {
    json!({ "command": SWITCHBOARD, "args": ["demo-server"] })
}

/// Returns the configuration entry of a shell script that is not a server.
pub(crate) fn script(text: &str) -> Value {
    json!({ "command": "sh", "args": ["-c", text] })
}

/// Returns whether a file is accessible only to its owner.
pub(crate) fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode().trailing_zeros() >= 6
}
