//! The `switchboard` command in a fixed environment.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::process::Command;

use switchboard_testkit::{CommandOutput, run_command};

pub(crate) const SWITCHBOARD: &str = env!("CARGO_BIN_EXE_switchboard");

/// Returns the command with these arguments, in a fixed environment.
pub(crate) fn switchboard<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(SWITCHBOARD);
    command.args(args).env_remove("COLUMNS").env_remove("NO_COLOR").env("TERM", "xterm-256color");
    // Ignores the servers that the developer has configured.
    command.env("XDG_CONFIG_HOME", "/nonexistent/config").env("XDG_STATE_HOME", "/nonexistent/state");
    command
}

/// Runs a command to its end, without a terminal and with empty input.
pub(crate) fn run(args: &[&str]) -> CommandOutput {
    run_fed(args, "")
}

/// Runs a command to its end with this standard input.
pub(crate) fn run_fed(args: &[&str], input: &str) -> CommandOutput {
    run_command(switchboard(args), input)
}

/// Runs a command on the demo server.
pub(crate) fn demo(args: &[&str]) -> CommandOutput {
    run(&on_demo(args))
}

/// Appends the command of the demo server to the arguments.
pub(crate) fn on_demo<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &["--", SWITCHBOARD, "demo-server"]].concat()
}

/// Returns the write end of a pipe whose reader is closed.
pub(crate) fn broken_pipe() -> OwnedFd {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}
