//! `switchboard design`: prints the design of a service, checks it against its lock file, compares it with another
//! design.

use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use std::{fs, io};

use serde_json::json;
use switchboard_design::{Change, ChangeClass, Design, Lock, diff, schema};
use switchboard_terminal::{LockCheckError, LockOutcome, check_lock};
use tokio::io::AsyncReadExt;

use crate::args::{DesignAction, DesignArgs, DesignCheckArgs, DesignDiffArgs, DesignPrintArgs, DesignSource};
use crate::error::{CommandError, ExitKind};
use crate::output::OutputStream;
use crate::sanitize::{self, sanitize};

/// Timeout for a program to print its design. It may be built first.
const PRINT_TIMEOUT: Duration = Duration::from_secs(600);
/// Maximum size of a design.
const MAX_DESIGN: usize = 16 << 20;

pub(crate) async fn run(args: &DesignArgs) -> Result<(), CommandError> {
    match &args.action {
        DesignAction::Print(args) => print(args).await,
        DesignAction::Check(args) => check(args).await,
        DesignAction::Diff(args) => print_diff(args),
    }
}

async fn print(args: &DesignPrintArgs) -> Result<(), CommandError> {
    let design = read(&args.source).await?;
    let text =
        if args.json { canonical_json(&design) } else { switchboard_terminal::listing::listing(&design) };
    // The output of another program is untrusted.
    Ok(OutputStream::stdout().print(&if args.json { sanitize::json(&text) } else { sanitize(&text) })?)
}

/// Returns a design as indented canonical JSON.
fn canonical_json(design: &Design) -> String {
    let value = serde_json::to_value(design).map(schema::canonicalize).unwrap_or_default();
    format!("{value:#}\n")
}

async fn check(args: &DesignCheckArgs) -> Result<(), CommandError> {
    let design = read(&args.source).await?;
    match check_lock(&design, &args.lock, args.bless).map_err(lock_error)? {
        LockOutcome::Compared(changes) => print_changes(&changes, args.json),
        LockOutcome::Blessed => {
            let Design { name, version, .. } = &design;
            let message = format!("{} now contains the design of {name} {version}", args.lock.display());
            Ok(OutputStream::stdout().print(&sanitize(&message))?)
        }
    }
}

fn lock_error(error: LockCheckError) -> CommandError {
    let kind = match &error {
        LockCheckError::Read { .. } => {
            let hint = "--bless writes it from the current design";
            return CommandError::usage(error.to_string()).hint(hint);
        }
        LockCheckError::Mistakes(_) => "design",
        LockCheckError::Write { .. } => "io",
        LockCheckError::NotALock(_) | LockCheckError::Parse { .. } => "lock",
    };
    CommandError::other(kind, error.to_string())
}

fn print_diff(args: &DesignDiffArgs) -> Result<(), CommandError> {
    print_changes(&diff(&read_file(&args.old)?, &read_file(&args.new)?), args.json)
}

/// Prints the changes; fails if one of them is breaking.
fn print_changes(changes: &[Change], as_json: bool) -> Result<(), CommandError> {
    let worst = changes.iter().map(|change| change.class).max();
    let text = if as_json {
        let each = |change: &Change| json!({"class": change.class.to_string(), "place": change.location.to_string(), "what": change.description});
        let changes: Vec<_> = changes.iter().map(each).collect();
        let report = json!({"worst": worst.map(|class| class.to_string()), "changes": changes}).to_string();
        sanitize::json(&report).into_owned()
    } else if changes.is_empty() {
        "nothing has changed".to_owned()
    } else {
        let lines: Vec<String> = changes.iter().map(ToString::to_string).collect();
        sanitize(&lines.join("\n")).into_owned()
    };
    OutputStream::stdout().print(&text)?;
    match worst {
        Some(ChangeClass::Breaking) => Err(CommandError::AlreadyReported { exit: ExitKind::Other }),
        _ => Ok(()),
    }
}

/// Reads the design of a service, from a file or from the service itself.
///
/// # Errors
/// Returns an error if no design is given, or it cannot be read.
pub(crate) async fn read(source: &DesignSource) -> Result<Design, CommandError> {
    match (&source.design, source.command.split_first()) {
        (Some(path), _) => read_file(path),
        (None, Some((program, args))) => run_program(program, args, None).await,
        (None, None) => Err(CommandError::usage("no design given").hint(
            "give the service's command after --: switchboard design print -- ./my-service; or pass --design FILE",
        )),
    }
}

/// Reads a design from a design file or a lock file.
pub(crate) fn read_file(path: &Path) -> Result<Design, CommandError> {
    let text = fs::read_to_string(path).map_err(|error| io_error(path, &error))?;
    if let Ok(lock) = text.parse::<Lock>() {
        return Ok(lock.design().clone());
    }
    serde_json::from_str(&text).map_err(|error| parse_error(&path.display().to_string(), &error))
}

/// Runs a program, in `folder` if given, and reads the design it prints.
pub(crate) async fn run_program(
    program: &OsString,
    args: &[OsString],
    folder: Option<&Path>,
) -> Result<Design, CommandError> {
    let name = program.to_string_lossy().into_owned();
    let mut command = tokio::process::Command::new(program);
    command.args(args).args(["design", "print", "--json"]).stdin(Stdio::null()).stderr(Stdio::inherit());
    command.stdout(Stdio::piped()).kill_on_drop(true);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let failed = |why: String| {
        CommandError::new(ExitKind::Unreachable, "not_started", format!("{name}: {why}"))
            .hint("it is run with `design print --json`, which every service with `serve_cli` supports")
    };
    let done = tokio::time::timeout(PRINT_TIMEOUT, output(&mut command)).await;
    let done = done.map_err(|_| failed("it timed out".to_owned()))?;
    let (printed, status) = done.map_err(|error| failed(error.to_string()))?;
    let Some(status) = status else {
        return Err(failed("its output is too large for a design".to_owned()));
    };
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    serde_json::from_str(&String::from_utf8_lossy(&printed)).map_err(|error| parse_error(&name, &error))
}

/// Returns the output and exit status of a program. The status is `None` if the output exceeds the maximum, which kills
/// the program.
async fn output(command: &mut tokio::process::Command) -> io::Result<(Vec<u8>, Option<ExitStatus>)> {
    let mut child = command.spawn()?;
    let mut printed = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MAX_DESIGN as u64 + 1).read_to_end(&mut printed).await?;
    }
    if printed.len() > MAX_DESIGN {
        return Ok((printed, None));
    }
    let status = child.wait().await?;
    Ok((printed, Some(status)))
}

fn parse_error(from: &str, error: &serde_json::Error) -> CommandError {
    CommandError::other("design", format!("{from}: not a design: {error}"))
        .hint("`design print --json` of a service writes one")
}

pub(crate) fn io_error(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::other("io", format!("{}: {error}", path.display()))
}
