//! Runs programs with a timeout and collects their output; a program that exceeds it is killed and reported.
//!
//! Every program gets the same minimal environment, so that results do not depend on the user.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use crate::command::TaskError;

/// Timeout of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeLimit {
    Usual,
    Slow,
}

impl TimeLimit {
    fn time(self) -> Duration {
        Duration::from_secs(match self {
            Self::Usual => 60,
            Self::Slow => 180,
        })
    }
}

/// Timeout for a server to announce its address, under callgrind, too.
const START: Duration = Duration::from_secs(20);
/// Timeout for the output to arrive after the process has exited.
const REST: Duration = Duration::from_millis(500);

/// A command line: the program and its arguments.
pub(super) type Line = Vec<OsString>;

/// Runs a program to its end and returns its output.
pub(super) fn finish(line: &Line, within: TimeLimit) -> Result<String, TaskError> {
    let deadline = Instant::now() + within.time();
    let mut running = Running::start(line, Stdio::null())?;
    let stdout = collect(running.child.stdout.take());
    // No polling while it works: the pipe is closed when it ends.
    let printed = stdout.recv_timeout(within.time()).unwrap_or_default();
    running.end(deadline)?;
    Ok(printed)
}

/// A server that listens until its standard input is closed. Dropping it kills it.
#[derive(Debug)]
pub(super) struct Server {
    running: Running,
    stdin: Option<ChildStdin>,
    url: String,
}

impl Server {
    pub(super) fn start(line: &Line) -> Result<Self, TaskError> {
        let mut running = Running::start(line, Stdio::piped())?;
        let stdin = running.child.stdin.take();
        let (say, said) = mpsc::channel();
        let stdout = running.child.stdout.take();
        std::thread::spawn(move || {
            let mut lines = stdout.map(|stdout| BufReader::new(stdout).lines()).into_iter().flatten();
            let _ = say.send(lines.next());
            // Read on, so that it never waits for us.
            lines.for_each(drop);
        });
        match said.recv_timeout(START) {
            Ok(Some(Ok(said))) => match said.strip_prefix("listening ") {
                Some(url) => Ok(Self { running, stdin, url: url.trim().to_owned() }),
                None => Err(running.failure(&format!("said {said:?} instead of where it listens"))),
            },
            _ => Err(running.failure("did not say where it listens")),
        }
    }

    /// Starts a server that does not say where it listens, and is killed at the end.
    pub(super) fn start_at(line: &Line, url: &str) -> Result<Self, TaskError> {
        let mut running = Running::start(line, Stdio::null())?;
        let stdout = running.child.stdout.take();
        // Read, so that it never waits for us.
        collect(stdout);
        let address = url.trim_start_matches("http://").split('/').next().unwrap_or_default().to_owned();
        let deadline = Instant::now() + START;
        while TcpStream::connect(&address).is_err() {
            if Instant::now() > deadline || running.wait(Instant::now()).is_some() {
                return Err(running.failure(&format!("does not listen at {address}")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Self { running, stdin: None, url: url.to_owned() })
    }

    /// Returns the id of its process.
    pub(super) fn id(&self) -> u32 {
        self.running.child.id()
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Closes its standard input and waits for it to exit; one that has none is killed.
    pub(super) fn stop(mut self) -> Result<(), TaskError> {
        let Some(stdin) = self.stdin.take() else { return Ok(()) };
        drop(stdin);
        self.running.end(Instant::now() + START)
    }
}

#[derive(Debug)]
struct Running {
    child: Child,
    stderr: Receiver<String>,
    name: String,
}

impl Running {
    fn start(line: &Line, stdin: Stdio) -> Result<Self, TaskError> {
        let name = spoken(line);
        let Some((program, arguments)) = line.split_first() else {
            return Err(TaskError::new("there is no program to start"));
        };
        let mut command = Command::new(program);
        command.args(arguments).env_clear().stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        for kept in ["PATH", "HOME"] {
            command.envs(std::env::var_os(kept).map(|value| (kept, value)));
        }
        let started = command.spawn();
        let mut child =
            started.map_err(|error| TaskError::new(format!("`{name}` did not start: {error}")))?;
        let stderr = collect(child.stderr.take());
        Ok(Self { child, stderr, name })
    }

    fn end(&mut self, deadline: Instant) -> Result<(), TaskError> {
        match self.wait(deadline) {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.failure(&format!("failed: {status}"))),
            None => Err(self.failure("did not end in time and was killed")),
        }
    }

    fn wait(&mut self, deadline: Instant) -> Option<ExitStatus> {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
                _ => return None,
            }
        }
    }

    /// Returns an error with the end of its stderr.
    fn failure(&mut self, what: &str) -> TaskError {
        self.kill();
        let complaints = self.stderr.recv_timeout(REST).unwrap_or_default();
        let lines: Vec<&str> = complaints.lines().collect();
        let last = lines[lines.len().saturating_sub(20)..].join("\n");
        TaskError::new(format!("`{}` {what}\n{last}", self.name))
    }

    fn kill(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads a pipe to its end on a separate thread.
fn collect(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (say, said) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What came before an error is still worth showing.
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = say.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    said
}

/// Formats a command line without directories.
fn spoken(line: &Line) -> String {
    let word = |word: &OsString| {
        let text = word.to_string_lossy();
        match text.starts_with('/') {
            true => text.rsplit('/').next().unwrap_or_default().to_owned(),
            false => text.into_owned(),
        }
    };
    line.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Line {
        ["sh", "-c", script].map(OsString::from).to_vec()
    }

    #[test]
    fn what_is_printed_is_returned() {
        assert_eq!(finish(&shell("echo a; echo b"), TimeLimit::Usual).unwrap(), "a\nb\n");
    }

    #[test]
    fn a_failure_has_the_complaint() {
        let failure = finish(&shell("echo broken >&2; exit 3"), TimeLimit::Usual).unwrap_err().to_string();
        assert!(failure.contains("exit status: 3") && failure.contains("broken"), "{failure}");
    }

    #[test]
    fn a_server_ends_when_its_input_does() {
        let server = Server::start(&shell("echo listening http://x/; cat")).unwrap();
        assert_eq!(server.url(), "http://x/");
        server.stop().unwrap();
        assert!(Server::start(&shell("echo hello; cat")).is_err());
    }
}
