//! Programs under a clock: what they print is collected, and one that does not end in time is killed and named.
//!
//! Every program gets the same small environment, so that nothing measured depends on who measures.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use crate::command::Failure;

/// How long one run may take before it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    Usual,
    Slow,
}

impl Within {
    fn time(self) -> Duration {
        Duration::from_secs(match self {
            Self::Usual => 60,
            Self::Slow => 180,
        })
    }
}

/// How long a server may take to say where it listens, callgrind included.
const START: Duration = Duration::from_secs(20);
/// How long what was printed may take to arrive once the process has ended.
const REST: Duration = Duration::from_millis(500);

/// A command line: the program and its arguments.
pub(super) type Line = Vec<OsString>;

/// Runs it to its end and returns what it printed.
pub(super) fn finish(line: &Line, within: Within) -> Result<String, Failure> {
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
    pub(super) fn start(line: &Line) -> Result<Self, Failure> {
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

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Lets it end by itself.
    pub(super) fn stop(mut self) -> Result<(), Failure> {
        drop(self.stdin.take());
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
    fn start(line: &Line, stdin: Stdio) -> Result<Self, Failure> {
        let name = spoken(line);
        let Some((program, arguments)) = line.split_first() else {
            return Err(Failure::new("there is no program to start"));
        };
        let mut command = Command::new(program);
        command.args(arguments).env_clear().stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        for kept in ["PATH", "HOME"] {
            command.envs(std::env::var_os(kept).map(|value| (kept, value)));
        }
        let started = command.spawn();
        let mut child = started.map_err(|error| Failure::new(format!("`{name}` did not start: {error}")))?;
        let stderr = collect(child.stderr.take());
        Ok(Self { child, stderr, name })
    }

    fn end(&mut self, deadline: Instant) -> Result<(), Failure> {
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

    /// Says what went wrong, with the end of what it complained about.
    fn failure(&mut self, what: &str) -> Failure {
        self.kill();
        let complaints = self.stderr.recv_timeout(REST).unwrap_or_default();
        let lines: Vec<&str> = complaints.lines().collect();
        let last = lines[lines.len().saturating_sub(20)..].join("\n");
        Failure::new(format!("`{}` {what}\n{last}", self.name))
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

/// Reads a pipe to its end on a thread of its own.
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

/// The line as a person would type it, folders left out.
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
        assert_eq!(finish(&shell("echo a; echo b"), Within::Usual).unwrap(), "a\nb\n");
    }

    #[test]
    fn a_failure_has_the_complaint() {
        let failure = finish(&shell("echo broken >&2; exit 3"), Within::Usual).unwrap_err().to_string();
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
