//! A server under test, or one behind it. Dropping it kills the process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::command::TaskError;

/// Timeout for it to announce its address.
const START: Duration = Duration::from_secs(20);

/// A running server.
#[derive(Debug)]
pub(super) struct Server {
    process: Child,
    url: String,
}

impl Server {
    /// Starts it on a free local port.
    pub(super) fn start(program: &Path) -> Result<Self, TaskError> {
        Self::start_with(program, &[])
    }

    /// Starts it on a free local port, with further arguments.
    pub(super) fn start_with(program: &Path, arguments: &[&str]) -> Result<Self, TaskError> {
        let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let failed = |what: String| TaskError::new(format!("the {name} {what}"));
        let mut process = Command::new(program)
            .args(["--http", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed(format!("did not start: {error}")))?;
        let (say, said) = mpsc::channel();
        if let Some(stdout) = process.stdout.take() {
            // Ends with the line, or with the process.
            std::thread::spawn(move || {
                let mut line = String::new();
                let read = BufReader::new(stdout).read_line(&mut line);
                let _ = say.send(read.map(|_| line));
            });
        }
        let mut server = Self { process, url: String::new() };
        match said.recv_timeout(START) {
            Ok(Ok(line)) if line.starts_with("http://") => server.url = line.trim().to_owned(),
            Ok(Ok(line)) => return Err(failed(format!("said {line:?} instead of its URL"))),
            Ok(Err(error)) => return Err(failed(format!("cannot be read: {error}"))),
            Err(_) => return Err(failed("did not say where it listens".into())),
        }
        Ok(server)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
