//! Programs that a test runs: to their end, or in the background.

use std::borrow::BorrowMut;
use std::io::Write;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::output_reader::OutputReader;
use crate::processes::exits_in_time;

/// Exit code and output of a finished program.
#[derive(Debug)]
pub struct CommandOutput {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl CommandOutput {
    /// Returns the standard output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {:?} {:?}", self.out, self.err))
    }

    /// Returns the member `error` of the standard error, which must be one JSON object on one line.
    pub fn error(&self) -> serde_json::Value {
        assert_eq!(self.err.trim_end().lines().count(), 1, "{:?}", self.err);
        serde_json::from_str::<serde_json::Value>(&self.err).unwrap()["error"].clone()
    }
}

/// Runs a command to its end with this standard input.
pub fn run_command(mut command: impl BorrowMut<Command>, input: &str) -> CommandOutput {
    let mut running = RunningCommand::spawn(command.borrow_mut().stdin(Stdio::piped()));
    // A program need not read its input.
    let _ = running.child.stdin.take().unwrap().write_all(input.as_bytes());
    let code = running.wait().code().unwrap();
    CommandOutput { code, out: running.out.all(), err: running.err.all() }
}

/// A program that runs without a terminal. Dropping it kills the program.
#[derive(Debug)]
pub struct RunningCommand {
    /// The process.
    pub child: Child,
    /// Its standard output.
    pub out: OutputReader,
    /// Its standard error.
    pub err: OutputReader,
}

impl RunningCommand {
    /// Starts a command without input.
    pub fn start(mut command: impl BorrowMut<Command>) -> Self {
        Self::spawn(command.borrow_mut().stdin(Stdio::null()))
    }

    /// Starts a command whose input the test writes.
    pub fn start_with_input(mut command: impl BorrowMut<Command>) -> Self {
        Self::spawn(command.borrow_mut().stdin(Stdio::piped()))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = OutputReader::new(child.stdout.take().unwrap());
        let err = OutputReader::new(child.stderr.take().unwrap());
        Self { child, out, err }
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    /// Sends SIGINT.
    pub fn interrupt(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
    }

    /// Waits for the program to exit.
    pub fn wait(&mut self) -> ExitStatus {
        wait_for_child(&mut self.child)
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for a child to exit; kills it when it takes too long.
pub fn wait_for_child(child: &mut Child) -> ExitStatus {
    if !exits_in_time(Pid::from_child(child)) {
        child.kill().unwrap();
        panic!("the program did not end in time");
    }
    child.wait().unwrap()
}
