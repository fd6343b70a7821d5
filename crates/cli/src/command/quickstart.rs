//! `switchboard quickstart`: a document for agents, written from the design of a service.
//!
//! Invariant: a file that was not written here is never touched.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use switchboard_design::{QUICKSTART_MARKER, Quickstart};

use crate::args::QuickstartArgs;
use crate::command::design;
use crate::failure::{Failure, Status};
use crate::output::Paper;
use crate::sanitize::sanitize;

pub(crate) async fn run(args: &QuickstartArgs) -> Result<(), Failure> {
    let design = design::read(&args.source).await?;
    let shown = args.out.display();
    let say = |text: &str| Ok(Paper::stdout().print(&sanitize(text))?);
    if !design.quickstart {
        return say(&format!("the design of {} says `quickstart = false`: nothing is written", design.name));
    }
    let mut quickstart = Quickstart::new(&design);
    if !args.source.command.is_empty() {
        quickstart = quickstart.with_command(args.source.command.iter().map(|word| word.to_string_lossy()));
    }
    let text = quickstart.to_string();
    let kept = kept(&args.out)?;
    if kept.as_deref() == Some(&text) {
        return say(&format!("{shown} is up to date"));
    }
    if args.check {
        return Err(Failure::new(Status::Other, "stale", format!("{shown} is not what the design says"))
            .hint("write it anew with the same command without --check"));
    }
    if kept.is_some_and(|kept| !kept.starts_with(QUICKSTART_MARKER)) {
        return Err(Failure::new(
            Status::Other,
            "not_ours",
            format!("{shown} was not written by this command"),
        )
        .hint("move it away, or give another file with --out"));
    }
    fs::write(&args.out, text).map_err(|error| design::at(&args.out, &error))?;
    say(&format!("wrote {shown}"))
}

fn kept(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read(path) {
        // What is no text was not written here either.
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(design::at(path, &error)),
    }
}
