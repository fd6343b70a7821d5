//! The command lines that are about services written with this toolkit: their designs, documents and projects.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Where a design comes from: a file, or a program that prints it.
#[derive(Debug, Args)]
pub(crate) struct DesignSource {
    /// The design as JSON, as `design print --json` writes it; or its lock
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
    /// Compare a design with what was promised; exit code 1 when something breaks for those who rely on it
    Check(DesignCheckArgs),
    /// Tell what a new design changes of an old one; exit code 1 when something breaks
    Diff(DesignDiffArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  switchboard design print -- cargo run -q -p my-service --
  switchboard design print --json --design design.json")]
pub(crate) struct DesignPrintArgs {
    /// As canonical JSON, for other programs
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) source: DesignSource,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  # compare with design.lock.json
  switchboard design check -- ./my-service
  # promise what there is now
  switchboard design check --bless -- ./my-service")]
pub(crate) struct DesignCheckArgs {
    /// What was promised
    #[arg(long, value_name = "FILE", default_value = "design.lock.json")]
    pub(crate) lock: PathBuf,
    /// Promise the design as it is now
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
    /// The old design: its JSON or its lock
    pub(crate) old: PathBuf,
    /// The new design: its JSON or its lock
    pub(crate) new: PathBuf,
    /// Print the changes as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  switchboard quickstart -- cargo run -q -p my-service --
  # for CI: exit code 1 when the document is stale
  switchboard quickstart --check -- ./my-service")]
pub(crate) struct QuickstartArgs {
    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "AGENTS_QUICKSTART.md")]
    pub(crate) out: PathBuf,
    /// Write nothing; exit code 1 when the file is not what would be written
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) source: DesignSource,
}

#[derive(Debug, Args)]
#[command(after_help = "A file that exists is kept as it is, and named.

Examples:
  # a service in ./weather that builds and passes its test
  switchboard new weather
  # and an agent that uses it
  switchboard new weather --agent
  # an agent for a project that is there, by its own design
  switchboard new weather --agent -- ./weather")]
pub(crate) struct NewArgs {
    /// The name of the service: letters, digits, `-` and `_`
    pub(crate) name: String,
    /// Also an agent: a runtime, a planner, and an adapter for each tool of the service
    #[arg(long)]
    pub(crate) agent: bool,
    /// Where to write it, instead of a folder of its name
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Depend on the sources of switchboard in this folder; without it, on those this program was built from if they are
    /// still there, else on the published crate
    #[arg(long, value_name = "DIR")]
    pub(crate) switchboard_path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: DesignSource,
}
