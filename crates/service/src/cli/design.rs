//! The design of a service at a shell: printed, and checked against what was promised.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};
use switchboard_design::{ChangeClass, Design};
use switchboard_terminal::{LockCheckError, LockOutcome, check_lock};

use super::failure::Failure;
use super::{listed, print};

/// Where a lock is unless said otherwise.
const LOCK: &str = "design.lock.json";

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
        .default_value(LOCK)
        .value_parser(clap::value_parser!(PathBuf))
        .help("What was promised");
    let check = Command::new("check")
        .about(
            "Compare the design with what was promised; fails when something breaks for those who rely on it",
        )
        .arg(lock)
        .arg(switch("bless", "Promise the design as it is now"));
    Command::new("design")
        .about("Look at the design, or check it against its lock")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([print, check])
}

pub(super) fn run(design: &Design, matches: &ArgMatches) -> Result<(), Failure> {
    match matches.subcommand() {
        Some(("check", matches)) => check(design, matches),
        Some((_, matches)) if matches.get_flag("schema") => {
            print::text(&format!("{:#}\n", Design::json_schema()))
        }
        Some((_, matches)) if matches.get_flag("json") => {
            let written = serde_json::to_value(design).map_err(|error| Failure::Other(error.to_string()))?;
            print::text(&format!("{written:#}\n"))
        }
        _ => print::text(&listed::to_text(design, false)),
    }
}

fn check(design: &Design, matches: &ArgMatches) -> Result<(), Failure> {
    let path = matches.get_one::<PathBuf>("lock").cloned().unwrap_or_else(|| LOCK.into());
    let changes = match check_lock(design, &path, matches.get_flag("bless")) {
        Ok(LockOutcome::Compared(changes)) => changes,
        Ok(LockOutcome::Blessed) => {
            let Design { name, version, .. } = design;
            return print::text(&format!("{} holds the design of {name} {version}\n", path.display()));
        }
        Err(error @ LockCheckError::Read { .. }) => {
            return Err(Failure::usage(error.to_string()).hint("`design check --bless` writes it"));
        }
        Err(error) => return Err(Failure::Other(error.to_string())),
    };
    for change in &changes {
        print::text(&change.to_string())?;
    }
    match changes.iter().map(|change| change.class).max() {
        None => print::text("nothing has changed\n"),
        Some(ChangeClass::Breaking) => Err(Failure::Shown(1)),
        Some(_) => Ok(()),
    }
}
