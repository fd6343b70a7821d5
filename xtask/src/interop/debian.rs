//! Packages of Debian, installed where this program may.

use std::process::Command;

use crate::command::{self, TaskError};

/// Installs a package as root; without the right to, fails with what to ask of the user.
pub(super) fn install(package: &str, ask: &str) -> Result<(), TaskError> {
    let root = command::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !root || !command::succeeds(Command::new("apt-get").arg("--version")) {
        return Err(TaskError::new(ask));
    }
    command::run_to_stderr(Command::new("apt-get").args(["update", "--quiet"]))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--quiet", "--no-install-recommends", package]);
    command::run_to_stderr(install.env("DEBIAN_FRONTEND", "noninteractive"))
}
