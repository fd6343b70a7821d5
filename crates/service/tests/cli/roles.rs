//! Runs this program in one of its roles.

use std::process::Command;

use switchboard_testkit::{CommandOutput, RunningCommand, run_command};

/// A test: its name and its function.
pub(crate) type Test = (&'static str, fn());

/// Returns a command that runs this program in a role.
pub(crate) fn program(role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(role);
    command
}

/// Runs a command to its end without input.
pub(crate) fn done(command: &mut Command) -> CommandOutput {
    run_command(command, "")
}

/// Runs the service's own command line in process with these arguments.
pub(crate) fn service(words: &[&str]) -> CommandOutput {
    done(program("service").args(words))
}

/// Runs the client command line over stdio with these arguments.
pub(crate) fn client(words: &[&str]) -> CommandOutput {
    let stdio = format!("'{}' service serve --stdio", std::env::current_exe().unwrap().display());
    done(program("client").args(["--stdio", &stdio]).args(words))
}

/// The service over HTTP.
pub(crate) struct Served {
    pub(crate) running: RunningCommand,
    pub(crate) url: String,
}

impl Served {
    pub(crate) fn start() -> Self {
        let running = RunningCommand::start(program("service").args(["serve", "--http", "127.0.0.1:0"]));
        let url = running.err.line_after("listening at ");
        Self { running, url }
    }
}
