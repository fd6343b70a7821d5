//! The command lines that are about the servers of the configuration files.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use switchboard::host::config::Scope;
use switchboard::http::Secret;

use crate::args::{Remote, pair, seconds, secret};

/// A file that is the user's to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Place {
    /// Yours, for this project
    #[default]
    Local,
    /// The project's .mcp.json, shared with everybody who works on it
    Project,
    /// Yours, everywhere
    User,
}

impl Place {
    pub(crate) fn scope(self) -> Scope {
        match self {
            Self::Local => Scope::Local,
            Self::Project => Scope::Project,
            Self::User => Scope::User,
        }
    }
}

/// How a server that is added is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// A program, on its stdin and stdout
    Stdio,
    /// Streamable HTTP
    Http,
    /// HTTP+SSE, the binding of 2024
    Sse,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Write ${NAME} where a value is secret: it is filled in from the environment
when the server starts.

Examples:
  switchboard add everything -- npx -y @modelcontextprotocol/server-everything
  switchboard add github -s user https://api.githubcopilot.com/mcp/ \\
      --bearer-env GITHUB_TOKEN
  switchboard add files --entry '{\"command\": \"mcp-files\", \"args\": [\"/srv\"]}'")]
#[group(skip)]
pub(crate) struct AddArgs {
    /// What it is called from now on
    pub(crate) name: String,
    /// Its address, as with --url
    #[arg(value_name = "URL", conflicts_with_all = ["url", "entry", "command"])]
    pub(crate) address: Option<String>,
    /// Whose file it is written to
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) scope: Place,
    /// Give its program a variable; may be repeated
    #[arg(short, long, value_name = "K=V", value_parser = pair, conflicts_with_all = ["url", "address", "entry"])]
    pub(crate) env: Vec<(String, String)>,
    /// Let its program see a variable of the environment; most are withheld
    #[arg(long, value_name = "NAME", conflicts_with_all = ["url", "entry"])]
    pub(crate) inherit_env: Vec<String>,
    /// Start its program in this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "entry"])]
    pub(crate) cwd: Option<String>,
    /// Send this header with every request; may be repeated
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = secret)]
    pub(crate) headers: Vec<Secret>,
    /// How it is reached, where that does not follow from the rest
    #[arg(short, long, value_enum, conflicts_with = "entry")]
    pub(crate) transport: Option<Kind>,
    /// Its address
    #[arg(long, value_name = "URL", conflicts_with = "entry")]
    pub(crate) url: Option<String>,
    /// Allow plain http beyond this machine: everything can be read on the way
    #[arg(long)]
    pub(crate) allow_http: bool,
    /// Send the token in this environment variable as `Authorization: Bearer …`; the file keeps only its name
    #[arg(long, value_name = "NAME", conflicts_with = "entry")]
    pub(crate) bearer_env: Option<String>,
    /// Its whole entry, as it is written in a file
    #[arg(long, value_name = "JSON")]
    pub(crate) entry: Option<String>,
    /// Print JSON, secrets masked
    #[arg(long)]
    pub(crate) json: bool,
    /// Trust what it says of its tools: calls of tools marked as destructive are not asked about
    #[arg(long)]
    pub(crate) trust: bool,
    /// Take the place of one of the same name
    #[arg(long)]
    pub(crate) replace: bool,
    /// Its program and arguments, after `--`
    #[arg(last = true, value_name = "CMD ARGS", conflicts_with_all = ["url", "entry"])]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The server
    pub(crate) name: String,
    /// From whose file; by default from the one that counts
    #[arg(short, long, value_enum)]
    pub(crate) scope: Option<Place>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print JSON, secrets masked
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The server
    pub(crate) name: String,
    /// Print JSON, secrets masked
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SwitchArgs {
    /// The server
    pub(crate) name: String,
    /// Print JSON, secrets masked
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A project's servers are programs somebody else chose. None is started before
you have seen and approved exactly what would run; any change of its entry
needs another approval.")]
pub(crate) struct ApproveArgs {
    /// The server; without a name, those that wait are shown
    #[arg(conflicts_with = "all")]
    pub(crate) name: Option<String>,
    /// All that wait
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON: what was approved and what waits, secrets masked
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The server, or one tool of it as `server/tool`
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Programs: claude-desktop, claude-code, vscode, cursor, codex, gemini, zed,
  opencode, windsurf

Examples:
  # what there is, wherever it is; nothing is changed
  switchboard import
  switchboard import cursor --dry-run
  switchboard import --file ~/old/mcp.json -s user")]
pub(crate) struct ImportArgs {
    /// The program whose servers are wanted
    #[arg(conflicts_with = "file")]
    pub(crate) from: Option<String>,
    /// A file of any of these programs
    #[arg(long)]
    pub(crate) file: Option<PathBuf>,
    /// Only show what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Whose file they are written to; by default yours: everywhere, or for this project where they were only for it
    #[arg(short, long, value_enum)]
    pub(crate) scope: Option<Place>,
    /// Take the place of servers of the same names
    #[arg(long)]
    pub(crate) replace: bool,
    /// Do not ask before taking servers from a file of a project
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print JSON, secrets masked
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Print an array with an object for each server; with --watch, an object on a line for each change
    #[arg(long)]
    pub(crate) json: bool,
    /// Stay, and show every change as it happens; files are followed too
    #[arg(long)]
    pub(crate) watch: bool,
    /// How long a server may take to start
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct ReconnectArgs {
    /// The server
    pub(crate) name: String,
    /// Print its status as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// How long it may take to start
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// The tool: its server's name for it, `server/tool`, or `mcp__server__tool`
    pub(crate) tool: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// How long a server may take to start
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct PsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  switchboard doctor github
  switchboard doctor https://example.com/mcp --bearer-env TOKEN
  switchboard doctor -- npx -y @modelcontextprotocol/server-everything")]
#[group(skip)]
pub(crate) struct DoctorArgs {
    /// A remembered server, or the URL of a server
    #[arg(
        value_name = "SERVER|URL",
        required_unless_present_any = ["url", "command"],
        conflicts_with_all = ["url", "command"]
    )]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) remote: Remote,
    /// Give the program a variable; may be repeated
    #[arg(short, long, value_name = "K=V", value_parser = pair, requires = "command")]
    pub(crate) env: Vec<(String, String)>,
    /// Let the program see a variable of this environment; most are withheld
    #[arg(long, value_name = "NAME", requires = "command")]
    pub(crate) inherit_env: Vec<String>,
    /// Start the program in this directory
    #[arg(long, value_name = "DIR", requires = "command")]
    pub(crate) cwd: Option<PathBuf>,
    /// The server: a program and its arguments, after `--`
    #[arg(last = true, value_name = "CMD ARGS")]
    pub(crate) command: Vec<OsString>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// How long each step may take
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
}
