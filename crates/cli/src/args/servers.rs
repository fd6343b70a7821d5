//! Arguments of the commands about configured servers.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use switchboard::host::config::Scope;
use switchboard::transport::http_client::Secret;

use super::policy::CallerArgs;
use super::target::RemoteArgs;
use super::value_parsers::{pair, seconds, secret};

/// Scope of a configuration file that the user can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum ScopeArg {
    /// Your file for this project
    #[default]
    Local,
    /// The project's .mcp.json, shared with everyone who works on it
    Project,
    /// Your file for all projects
    User,
}

impl ScopeArg {
    pub(crate) fn scope(self) -> Scope {
        match self {
            Self::Local => Scope::Local,
            Self::Project => Scope::Project,
            Self::User => Scope::User,
        }
    }
}

/// Transport of a server that is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TransportArg {
    /// A program, on its stdin and stdout
    Stdio,
    /// Streamable HTTP
    Http,
    /// HTTP+SSE, the transport of 2024
    Sse,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Write ${NAME} for a secret value: it is replaced by the environment variable
when the server starts.

Examples:
  switchboard add everything -- npx -y @modelcontextprotocol/server-everything
  switchboard add github -s user https://api.githubcopilot.com/mcp/ \\
      --bearer-env GITHUB_TOKEN
  switchboard add files --entry '{\"command\": \"mcp-files\", \"args\": [\"/srv\"]}'")]
#[group(skip)]
pub(crate) struct AddArgs {
    /// The name of the server
    pub(crate) name: String,
    /// Its URL, like --url
    #[arg(value_name = "URL", conflicts_with_all = ["url", "entry", "command"])]
    pub(crate) address: Option<String>,
    /// The configuration file to write to
    #[arg(short, long, value_enum, default_value_t)]
    pub(crate) scope: ScopeArg,
    /// Set an environment variable of its program; may be repeated
    #[arg(short, long, value_name = "K=V", value_parser = pair, conflicts_with_all = ["url", "address", "entry"])]
    pub(crate) env: Vec<(String, String)>,
    /// Pass a variable of the environment to its program; most are withheld
    #[arg(long, value_name = "NAME", conflicts_with_all = ["url", "entry"])]
    pub(crate) inherit_env: Vec<String>,
    /// Start its program in this directory
    #[arg(long, value_name = "DIR", conflicts_with_all = ["url", "entry"])]
    pub(crate) cwd: Option<String>,
    /// Send this header with every request; may be repeated
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = secret)]
    pub(crate) headers: Vec<Secret>,
    /// Its transport, if it does not follow from the other arguments
    #[arg(short, long, value_enum, conflicts_with = "entry")]
    pub(crate) transport: Option<TransportArg>,
    /// Its URL
    #[arg(long, value_name = "URL", conflicts_with = "entry")]
    pub(crate) url: Option<String>,
    /// Allow plain http to other machines: everything can be read in transit
    #[arg(long)]
    pub(crate) allow_http: bool,
    /// Send the token in this environment variable as `Authorization: Bearer …`; the file stores only the variable's name
    #[arg(long, value_name = "NAME", conflicts_with = "entry")]
    pub(crate) bearer_env: Option<String>,
    /// Its complete entry, in the format of the file
    #[arg(long, value_name = "JSON")]
    pub(crate) entry: Option<String>,
    /// Print JSON, secrets masked
    #[arg(long)]
    pub(crate) json: bool,
    /// Trust the annotations of its tools: do not ask before calling tools marked as destructive
    #[arg(long)]
    pub(crate) trust: bool,
    /// Replace a server of the same name
    #[arg(long)]
    pub(crate) replace: bool,
    /// Do not ask the server whether it wants a login
    #[arg(long)]
    pub(crate) no_probe: bool,
    /// Its program and arguments, after `--`
    #[arg(last = true, value_name = "CMD ARGS", conflicts_with_all = ["url", "entry"])]
    pub(crate) command: Vec<OsString>,
}

impl AddArgs {
    /// Returns the arguments that add a server at a URL.
    pub(crate) fn for_url(name: &str, url: &str, scope: ScopeArg) -> Self {
        Self { url: Some(url.to_owned()), ..Self::for_program(name, &[], scope) }
    }

    /// Returns the arguments that add a program.
    pub(crate) fn for_program(name: &str, command: &[String], scope: ScopeArg) -> Self {
        Self {
            name: name.to_owned(),
            address: None,
            scope,
            env: Vec::new(),
            inherit_env: Vec::new(),
            cwd: None,
            headers: Vec::new(),
            transport: None,
            url: None,
            allow_http: false,
            bearer_env: None,
            entry: None,
            json: false,
            trust: false,
            replace: false,
            no_probe: true,
            command: command.iter().map(OsString::from).collect(),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The server
    pub(crate) name: String,
    /// The configuration file to remove it from; by default the one whose entry is in effect
    #[arg(short, long, value_enum)]
    pub(crate) scope: Option<ScopeArg>,
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
pub(crate) struct ServerArgs {
    /// The server
    pub(crate) name: String,
    /// Print JSON, secrets masked
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The servers of a project's file are chosen by others. They are started only
after you have reviewed and approved exactly what would run; a changed entry
needs a new approval.")]
pub(crate) struct ApproveArgs {
    /// The server; without a name, shows the servers that need approval
    #[arg(conflicts_with = "all")]
    pub(crate) name: Option<String>,
    /// Approve all servers that need approval
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON: the approved and the unapproved servers, secrets masked
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
    /// The definitions that the gateway with this configuration file has pinned, for its own servers
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Programs: claude-desktop, claude-code, vscode, cursor, codex, gemini, zed,
  opencode, windsurf

Examples:
  # list the servers of all programs, without changes
  switchboard import
  switchboard import cursor --dry-run
  switchboard import --file ~/old/mcp.json -s user")]
pub(crate) struct ImportArgs {
    /// The program to import from
    #[arg(conflicts_with = "file")]
    pub(crate) from: Option<String>,
    /// A configuration file of any of these programs
    #[arg(long)]
    pub(crate) file: Option<PathBuf>,
    /// Show what would be imported, without changes
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The configuration file to write to; by default your user file, or your local file for servers of this project only
    #[arg(short, long, value_enum)]
    pub(crate) scope: Option<ScopeArg>,
    /// Replace servers of the same names
    #[arg(long)]
    pub(crate) replace: bool,
    /// Do not ask before importing servers from a project's file
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print JSON, secrets masked
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// Print an array with one object per server; with --watch, one object per line for each change
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep running and show every change, including changes of the configuration files
    #[arg(long)]
    pub(crate) watch: bool,
    /// Use this account, if you are logged in to a server with several
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// Startup timeout of each server
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
    /// Use this account, if you are logged in to a server with several
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// Startup timeout
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  switchboard why files/read_text
  # for a caller of a gateway with this policy
  switchboard why --policy policy.toml --as ada files/read_text")]
pub(crate) struct WhyArgs {
    /// The tool: its name, `server/tool`, or `mcp__server__tool`; or a server at a URL, to explain its login
    #[arg(value_name = "TOOL|SERVER|URL")]
    pub(crate) tool: String,
    /// Also explain what this policy of a gateway says about the tool
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Use this account, if you are logged in to a server with several
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// Startup timeout of each server
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
    /// A configured server, or the URL of a server
    #[arg(
        value_name = "SERVER|URL",
        required_unless_present_any = ["url", "command"],
        conflicts_with_all = ["url", "command"]
    )]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    /// Set an environment variable of the program; may be repeated
    #[arg(short, long, value_name = "K=V", value_parser = pair, requires = "command")]
    pub(crate) env: Vec<(String, String)>,
    /// Pass a variable of this environment to the program; most are withheld
    #[arg(long, value_name = "NAME", requires = "command")]
    pub(crate) inherit_env: Vec<String>,
    /// Start the program in this directory
    #[arg(long, value_name = "DIR", requires = "command")]
    pub(crate) cwd: Option<PathBuf>,
    /// The server: a program and its arguments, after `--`
    #[arg(last = true, value_name = "CMD ARGS")]
    pub(crate) command: Vec<OsString>,
    /// Use this account, if you are logged in to the server with several
    #[arg(long, value_name = "NAME", conflicts_with = "command")]
    pub(crate) account: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Timeout of each step
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
}
