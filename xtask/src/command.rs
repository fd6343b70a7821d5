//! Running other programs, and saying what went wrong.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Why a task did not succeed, for a person to read: nothing here is ever branched on.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The cargo that runs us, so that a toolchain chosen by hand stays chosen.
pub(crate) fn cargo(at: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").as_deref().unwrap_or(OsStr::new("cargo")));
    command.current_dir(at);
    command
}

/// Runs it with its output passed through.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    println!("$ {}", line(command));
    to_its_end(command)
}

/// Runs it with all it says on standard error, where it is in nobody's way.
pub(crate) fn run_aside(command: &mut Command) -> Result<(), Failure> {
    eprintln!("$ {}", line(command));
    to_its_end(command.stdout(std::io::stderr()))
}

fn to_its_end(command: &mut Command) -> Result<(), Failure> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| Failure::new(format!("`{}` did not start: {error}", program(command))))?;
    match status.success() {
        true => Ok(()),
        false => Err(Failure::new(format!("`{}` failed: {status}", line(command)))),
    }
}

/// Runs it and returns what it printed; its complaints go into the failure.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::new(format!("`{}` did not start: {error}", program(command))))?;
    if !output.status.success() {
        let complaints = String::from_utf8_lossy(&output.stderr);
        let why = format!("`{}` failed: {}\n{}", line(command), output.status, complaints.trim_end());
        return Err(Failure::new(why));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether it can be started and ends well; silent.
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
