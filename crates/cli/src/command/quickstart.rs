//! `switchboard quickstart`: writes AGENTS_QUICKSTART.md from the design of a service.
//!
//! Invariant: a file that this command did not write is never changed.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use switchboard_design::{QUICKSTART_MARKER, Quickstart};

use crate::args::QuickstartArgs;
use crate::command::design;
use crate::error::CommandError;
use crate::output::OutputStream;
use crate::sanitize::sanitize;

pub(crate) async fn run(args: &QuickstartArgs) -> Result<(), CommandError> {
    let design = design::read(&args.source).await?;
    let shown = args.out.display();
    let say = |text: &str| Ok(OutputStream::stdout().print(&sanitize(text))?);
    if !design.quickstart {
        return say(&format!("the design of {} has `quickstart = false`: nothing is written", design.name));
    }
    let mut quickstart = Quickstart::new(&design);
    if !args.source.command.is_empty() {
        quickstart = quickstart.with_command(args.source.command.iter().map(|word| word.to_string_lossy()));
    }
    let text = quickstart.to_string();
    let existing = read_existing(&args.out)?;
    if existing.as_deref() == Some(&text) {
        return say(&format!("{shown} is up to date"));
    }
    if args.check {
        return Err(CommandError::other("stale", format!("{shown} is not up to date with the design"))
            .hint("run the same command without --check to update it"));
    }
    if existing.is_some_and(|text| !text.starts_with(QUICKSTART_MARKER)) {
        return Err(CommandError::other("not_ours", format!("{shown} was not written by this command"))
            .hint("move it away, or name another file with --out"));
    }
    fs::write(&args.out, text).map_err(|error| design::io_error(&args.out, &error))?;
    say(&format!("wrote {shown}"))
}

fn read_existing(path: &Path) -> Result<Option<String>, CommandError> {
    match fs::read(path) {
        // A file that is not text was not written by this command.
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(design::io_error(path, &error)),
    }
}
