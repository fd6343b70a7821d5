//! Arguments of the commands about services: their designs, documents and projects.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Source of a design: a file, or a program that prints it.
#[derive(Debug, Args)]
pub(crate) struct DesignSource {
    /// The design as JSON, as printed by `design print --json`, or its lock file
    #[arg(long, value_name = "FILE", conflicts_with = "command", help_heading = "Design")]
    pub(crate) design: Option<PathBuf>,
    /// The service: a program and its arguments, after `--`; it is run with `design print --json`
    #[arg(last = true, value_name = "CMD ARGS", help_heading = "Design")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct DesignArgs {
    #[command(subcommand)]
    pub(crate) action: DesignAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DesignAction {
    /// Print the design of a service
    Print(DesignPrintArgs),
    /// Compare a design with its lock file; exit code 1 if a change is breaking
    Check(DesignCheckArgs),
    /// Compare two designs; exit code 1 if a change is breaking
    Diff(DesignDiffArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  switchboard design print -- cargo run -q -p my-service --
  switchboard design print --json --design design.json")]
pub(crate) struct DesignPrintArgs {
    /// Print canonical JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) source: DesignSource,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  # compare with design.lock.json
  switchboard design check -- ./my-service
  # write the current design to it
  switchboard design check --bless -- ./my-service")]
pub(crate) struct DesignCheckArgs {
    /// The lock file
    #[arg(long, value_name = "FILE", default_value = "design.lock.json")]
    pub(crate) lock: PathBuf,
    /// Write the current design to the lock file
    #[arg(long)]
    pub(crate) bless: bool,
    /// Print the changes as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) source: DesignSource,
}

#[derive(Debug, Args)]
pub(crate) struct DesignDiffArgs {
    /// The old design: a JSON or lock file
    pub(crate) old: PathBuf,
    /// The new design: a JSON or lock file
    pub(crate) new: PathBuf,
    /// Print the changes as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  switchboard quickstart -- cargo run -q -p my-service --
  # for CI: exit code 1 if the document is out of date
  switchboard quickstart --check -- ./my-service")]
pub(crate) struct QuickstartArgs {
    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "AGENTS_QUICKSTART.md")]
    pub(crate) out: PathBuf,
    /// Write nothing; exit code 1 if the file is not up to date
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) source: DesignSource,
}

#[derive(Debug, Args)]
#[command(after_help = "Existing files are kept unchanged and listed.

Examples:
  # a service in ./weather that builds and passes its test
  switchboard new weather
  # with an agent that uses it
  switchboard new weather --agent
  # an agent for an existing project, from its own design
  switchboard new weather --agent -- ./weather")]
pub(crate) struct NewArgs {
    /// The name of the service: letters, digits, `-` and `_`
    pub(crate) name: String,
    /// Also create an agent: a runtime, a planner, and an adapter for each tool of the service
    #[arg(long)]
    pub(crate) agent: bool,
    /// The folder to write to; by default a folder of that name
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Depend on the switchboard sources in this folder; by default on the sources this program was built from if they
    /// still exist, else on the published crate
    #[arg(long, value_name = "DIR")]
    pub(crate) switchboard_path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: DesignSource,
}
