//! The `design` command: prints the design and checks it against its lock file.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};
use switchboard_design::{ChangeClass, Design};
use switchboard_terminal::{LockCheckError, LockOutcome, check_lock};

use super::error::CliError;
use super::{design_listing, print};

/// Default path of the lock file.
const DEFAULT_LOCK_FILE: &str = "design.lock.json";

pub(super) fn command() -> Command {
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let print = Command::new("print")
        .about("Print the design")
        .arg(switch("json", "As JSON, for other programs"))
        .arg(switch("schema", "The JSON Schema that designs as JSON have").conflicts_with("json"));
    let lock = Arg::new("lock")
        .long("lock")
        .value_name("FILE")
        .default_value(DEFAULT_LOCK_FILE)
        .value_parser(clap::value_parser!(PathBuf))
        .help("The lock file");
    let check = Command::new("check")
        .about("Compare the design with its lock file; fails on breaking changes")
        .arg(lock)
        .arg(switch("bless", "Write the current design to the lock file"));
    Command::new("design")
        .about("Print the design, or check it against its lock file")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([print, check])
}

pub(super) fn run(design: &Design, matches: &ArgMatches) -> Result<(), CliError> {
    match matches.subcommand() {
        Some(("check", matches)) => check(design, matches),
        Some((_, matches)) if matches.get_flag("schema") => {
            print::text(&format!("{:#}\n", Design::json_schema()))
        }
        Some((_, matches)) if matches.get_flag("json") => {
            let json = serde_json::to_value(design).map_err(|error| CliError::Other(error.to_string()))?;
            print::text(&format!("{json:#}\n"))
        }
        _ => print::text(&design_listing::to_text(design, false)),
    }
}

fn check(design: &Design, matches: &ArgMatches) -> Result<(), CliError> {
    let path = matches.get_one::<PathBuf>("lock").cloned().unwrap_or_else(|| DEFAULT_LOCK_FILE.into());
    let changes = match check_lock(design, &path, matches.get_flag("bless")) {
        Ok(LockOutcome::Compared(changes)) => changes,
        Ok(LockOutcome::Blessed) => {
            let Design { name, version, .. } = design;
            return print::text(&format!("{} holds the design of {name} {version}\n", path.display()));
        }
        Err(error @ LockCheckError::Read { .. }) => {
            return Err(CliError::usage(error.to_string()).hint("`design check --bless` writes it"));
        }
        Err(error) => return Err(CliError::Other(error.to_string())),
    };
    for change in &changes {
        print::text(&change.to_string())?;
    }
    match changes.iter().map(|change| change.class).max() {
        None => print::text("nothing has changed\n"),
        Some(ChangeClass::Breaking) => Err(CliError::AlreadyReported(1)),
        Some(_) => Ok(()),
    }
}
