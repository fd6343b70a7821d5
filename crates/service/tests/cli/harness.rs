//! Runs this program in one of its roles and collects its output.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitCode, Stdio};

/// A test: its name and its function.
pub(crate) type Test = (&'static str, fn());

pub(crate) fn block_on(part: impl Future<Output = ExitCode>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(part)
}

/// Exit code and output of a program.
#[derive(Debug)]
pub(crate) struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Returns a command that runs this program in a role.
pub(crate) fn program(part: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(part).stdin(Stdio::null());
    command
}

pub(crate) fn done(command: &mut Command) -> Done {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Done { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// Runs the service's own command line in process with these arguments.
pub(crate) fn service(words: &[&str]) -> Done {
    done(program("service").args(words))
}

/// Runs the client command line over stdio with these arguments.
pub(crate) fn client(words: &[&str]) -> Done {
    let stdio = format!("'{}' service serve --stdio", std::env::current_exe().unwrap().display());
    done(program("client").args(["--stdio", &stdio]).args(words))
}

/// The service over HTTP, terminated on drop.
pub(crate) struct Served {
    child: Child,
    pub url: String,
}

impl Served {
    pub(crate) fn start() -> Self {
        let mut child = program("service")
            .args(["serve", "--http", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.find_map(|line| Some(line.unwrap().strip_prefix("listening at ")?.to_owned()));
        Self { child, url: line.unwrap() }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn wait(mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
