//! Runs other programs and reports their errors.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Error of a task: a message for people.
#[derive(Debug)]
pub(crate) struct TaskError(String);

impl TaskError {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the cargo that started this program, so that the toolchain stays the same.
pub(crate) fn cargo(at: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").as_deref().unwrap_or(OsStr::new("cargo")));
    command.current_dir(at);
    command
}

/// Runs a program with its output passed through.
pub(crate) fn run(command: &mut Command) -> Result<(), TaskError> {
    println!("$ {}", line(command));
    run_to_end(command)
}

/// Runs a program with its output on standard error.
pub(crate) fn run_to_stderr(command: &mut Command) -> Result<(), TaskError> {
    eprintln!("$ {}", line(command));
    run_to_end(command.stdout(std::io::stderr()))
}

fn run_to_end(command: &mut Command) -> Result<(), TaskError> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| TaskError::new(format!("`{}` did not start: {error}", program(command))))?;
    match status.success() {
        true => Ok(()),
        false => Err(TaskError::new(format!("`{}` failed: {status}", line(command)))),
    }
}

/// Runs a program and returns its output; its stderr becomes part of the error.
pub(crate) fn output(command: &mut Command) -> Result<String, TaskError> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| TaskError::new(format!("`{}` did not start: {error}", program(command))))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let why = format!("`{}` failed: {}\n{}", line(command), output.status, stderr.trim_end());
        return Err(TaskError::new(why));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a program silently and returns whether it succeeds.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn program(command: &Command) -> String {
    Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn line(command: &Command) -> String {
    let mut line = program(command);
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}
