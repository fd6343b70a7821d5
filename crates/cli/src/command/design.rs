//! `switchboard design`: the design of a service printed, checked against its lock, compared with another.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use serde_json::json;
use switchboard_design::Design;
use switchboard_design::{Change, ChangeClass, Lock, diff, schema};
use switchboard_terminal::{LockCheckError, LockOutcome, check_lock};
use tokio::io::AsyncReadExt;

use crate::args::{DesignAction, DesignArgs, DesignCheckArgs, DesignDiffArgs, DesignPrintArgs, DesignSource};
use crate::failure::{Failure, Status};
use crate::output::Paper;
use crate::sanitize::{self, sanitize};

/// How long a program may take to print its design. It may be built first.
const PRINTING: Duration = Duration::from_secs(600);
/// The most a design may be.
const MOST: usize = 16 << 20;

pub(crate) async fn run(args: &DesignArgs) -> Result<(), Failure> {
    match &args.action {
        DesignAction::Print(args) => print(args).await,
        DesignAction::Check(args) => check(args).await,
        DesignAction::Diff(args) => differ(args),
    }
}

async fn print(args: &DesignPrintArgs) -> Result<(), Failure> {
    let design = read(&args.source).await?;
    let text = if args.json { written(&design) } else { switchboard_terminal::listing::listing(&design) };
    // What another program printed may hold anything.
    Ok(Paper::stdout().print(&if args.json { sanitize::json(&text) } else { sanitize(&text) })?)
}

/// Canonical JSON, indented.
fn written(design: &Design) -> String {
    let value = serde_json::to_value(design).map(schema::canonicalize).unwrap_or_default();
    format!("{value:#}\n")
}

async fn check(args: &DesignCheckArgs) -> Result<(), Failure> {
    let design = read(&args.source).await?;
    match check_lock(&design, &args.lock, args.bless).map_err(unchecked)? {
        LockOutcome::Compared(changes) => tell(&changes, args.json),
        LockOutcome::Blessed => {
            let Design { name, version, .. } = &design;
            let promised = format!("{} now holds the design of {name} {version}", args.lock.display());
            Ok(Paper::stdout().print(&sanitize(&promised))?)
        }
    }
}

fn unchecked(error: LockCheckError) -> Failure {
    let kind = match &error {
        LockCheckError::Read { .. } => {
            let hint = "--bless writes it from the current design";
            return Failure::usage(error.to_string()).hint(hint);
        }
        LockCheckError::Mistakes(_) => "design",
        LockCheckError::Write { .. } => "io",
        LockCheckError::NotALock(_) | LockCheckError::Parse { .. } => "lock",
    };
    Failure::new(Status::Other, kind, error.to_string())
}

fn differ(args: &DesignDiffArgs) -> Result<(), Failure> {
    tell(&diff(&file(&args.old)?, &file(&args.new)?), args.json)
}

/// The changes, and as the exit code whether one of them breaks something.
fn tell(changes: &[Change], as_json: bool) -> Result<(), Failure> {
    let worst = changes.iter().map(|change| change.class).max();
    let text = if as_json {
        let each = |change: &Change| json!({"class": change.class.to_string(), "place": change.location.to_string(), "what": change.description});
        let changes: Vec<_> = changes.iter().map(each).collect();
        let told = json!({"worst": worst.map(|class| class.to_string()), "changes": changes}).to_string();
        sanitize::json(&told).into_owned()
    } else if changes.is_empty() {
        "nothing has changed".to_owned()
    } else {
        let lines: Vec<String> = changes.iter().map(ToString::to_string).collect();
        sanitize(&lines.join("\n")).into_owned()
    };
    Paper::stdout().print(&text)?;
    match worst {
        Some(ChangeClass::Breaking) => Err(Failure::Shown { status: Status::Other }),
        _ => Ok(()),
    }
}

/// The design of a service, from a file or from the service itself.
///
/// # Errors
/// When there is none, or it is none.
pub(crate) async fn read(source: &DesignSource) -> Result<Design, Failure> {
    match (&source.design, source.command.split_first()) {
        (Some(path), _) => file(path),
        (None, Some((program, args))) => printed(program, args, None).await,
        (None, None) => Err(Failure::usage("no design is named").hint(
            "put the service's command behind two dashes: switchboard design print -- ./my-service; or give --design FILE",
        )),
    }
}

/// A file holds a design, or a lock of one.
pub(crate) fn file(path: &Path) -> Result<Design, Failure> {
    let text = fs::read_to_string(path).map_err(|error| at(path, &error))?;
    if let Ok(lock) = text.parse::<Lock>() {
        return Ok(lock.design().clone());
    }
    parse(&text).map_err(|error| no_design(&path.display().to_string(), &error))
}

pub(crate) fn parse(text: &str) -> Result<Design, serde_json::Error> {
    serde_json::from_str(text)
}

/// The design that a program prints, run in a folder or in this one.
pub(crate) async fn printed(
    program: &OsString,
    args: &[OsString],
    folder: Option<&Path>,
) -> Result<Design, Failure> {
    let name = program.to_string_lossy().into_owned();
    let mut command = tokio::process::Command::new(program);
    command.args(args).args(["design", "print", "--json"]).stdin(Stdio::null()).stderr(Stdio::inherit());
    command.stdout(Stdio::piped()).kill_on_drop(true);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let failed = |why: String| {
        Failure::new(Status::Unreachable, "not_started", format!("{name}: {why}"))
            .hint("it is run with `design print --json`, which every service with `serve_cli` understands")
    };
    let done = tokio::time::timeout(PRINTING, output(&mut command)).await;
    let done = done.map_err(|_| failed("it took too long".to_owned()))?;
    let (printed, status) = done.map_err(|error| failed(error.to_string()))?;
    let Some(status) = status else {
        return Err(failed("it printed more than any design".to_owned()));
    };
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    parse(&String::from_utf8_lossy(&printed)).map_err(|error| no_design(&name, &error))
}

/// What a program prints, and how it ended; not how it ended when it prints more than any design, which ends it.
async fn output(command: &mut tokio::process::Command) -> io::Result<(Vec<u8>, Option<ExitStatus>)> {
    let mut child = command.spawn()?;
    let mut printed = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MOST as u64 + 1).read_to_end(&mut printed).await?;
    }
    if printed.len() > MOST {
        return Ok((printed, None));
    }
    let status = child.wait().await?;
    Ok((printed, Some(status)))
}

fn no_design(from: &str, error: &serde_json::Error) -> Failure {
    Failure::new(Status::Other, "design", format!("{from}: this is no design: {error}"))
        .hint("`design print --json` of a service writes one")
}

pub(crate) fn at(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Status::Other, "io", format!("{}: {error}", path.display()))
}
