//! The command line as the user wrote it. Decides nothing but what is well formed.

mod servers;
mod services;

use std::convert::Infallible;
use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{ArgAction, CommandFactory, Parser, Subcommand};
use switchboard::Revision;
use switchboard::http::Secret;

use crate::failure::{ErrorStyle, Failure};

pub(crate) use servers::{
    AddArgs, ApproveArgs, DoctorArgs, ForgetArgs, GetArgs, ImportArgs, Kind, ListArgs, PsArgs, ReconnectArgs,
    RemoveArgs, StatusArgs, SwitchArgs, WhyArgs,
};

pub(crate) use services::{
    DesignAction, DesignArgs, DesignCheckArgs, DesignDiffArgs, DesignPrintArgs, DesignSource, NewArgs,
    QuickstartArgs,
};

const EXAMPLES: &str = "\
Examples:
  # see it work, without any server of your own
  switchboard demo
  switchboard tools -- npx -y @modelcontextprotocol/server-everything
  # arguments take the types of the tool's schema
  switchboard call add a=1 b=2 -- switchboard demo-server
  # the result exactly as the server wrote it
  switchboard call echo --args @args.json --json -- CMD
  # and the traffic on stderr
  switchboard read file:///etc/hosts --trace -- CMD
  # a server at an address instead of a program
  switchboard info --url https://example.com/mcp
  # remember a server; then no command needs its program
  switchboard add files -- mcp-files /srv
  # how all remembered servers are doing
  switchboard status
  # a tool of one of them
  switchboard call files/read path=notes.txt
  # why a server does not connect, step by step
  switchboard doctor files
  # a service of your own, from one Rust trait
  switchboard new weather

Exit codes:
  0 success                  3 authentication needed
  1 any other failure        4 server unreachable, or protocol error
  2 wrong command line       5 the tool reported an error";

/// Look at MCP servers, call their tools, read their resources.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, after_help = EXAMPLES)]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the name, the protocol revision and the capabilities of a server
    Info(ViewArgs),
    /// List or search the tools of a server or of all remembered servers; show one tool in full
    Tools(ToolsArgs),
    /// List the resources and resource templates of a server or of all remembered servers
    Resources(ViewArgs),
    /// List the prompts of a server or of all remembered servers
    Prompts(ViewArgs),
    /// Call a tool
    Call(CallArgs),
    /// Read a resource
    Read(ReadArgs),
    /// Get a prompt, filled in
    Prompt(PromptArgs),
    /// Ask for values that complete an argument of a prompt or of a resource template
    Complete(CompleteArgs),
    /// Print what a server tells of changes, as it comes
    Listen(ListenArgs),
    /// Remember a server, in a file
    Add(Box<AddArgs>),
    /// Forget a server
    Remove(RemoveArgs),
    /// List the servers that are remembered, without starting any
    List(ListArgs),
    /// Show one server as it is written, and where
    Get(GetArgs),
    /// Start a server again with the others
    Enable(SwitchArgs),
    /// Keep a server in its file, and do not start it
    Disable(SwitchArgs),
    /// Let a project's servers be started, after seeing exactly what would run
    Approve(ApproveArgs),
    /// Take back what was approved or answered with always, about a server or one of its tools
    Forget(ForgetArgs),
    /// Take over servers from the files of other programs
    Import(ImportArgs),
    /// Connect all servers and show how they are doing
    Status(StatusArgs),
    /// Start one server anew and say how that went
    Reconnect(ReconnectArgs),
    /// Say why a tool is missing or refused
    Why(WhyArgs),
    /// Show the processes of servers that run now
    Ps(PsArgs),
    /// Say step by step why a server does not connect, and what to do
    Doctor(Box<DoctorArgs>),
    /// Write a new service: a project of yours that builds and passes its test
    New(NewArgs),
    /// Write AGENTS_QUICKSTART.md from the design of a service
    Quickstart(QuickstartArgs),
    /// Look at the design of a service, check it against its lock, compare it with another
    Design(DesignArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write those of all commands to a directory
    Man(ManArgs),
    /// Start three servers, connect to all of them, and show what a host does with them
    Demo(DemoArgs),
    /// Be a small MCP server, on stdin and stdout or over HTTP
    DemoServer(DemoServerArgs),
}

/// The server, and how to talk to it.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Target {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(flatten)]
    pub(crate) remote: Remote,
    /// One of the servers that are remembered; without any server named, all of them
    #[arg(long, value_name = "NAME", help_heading = "Server", conflicts_with_all = ["url", "command"])]
    pub(crate) server: Option<String>,
    /// The server: a program and its arguments, after `--`
    #[arg(last = true, value_name = "CMD ARGS", help_heading = "Server")]
    pub(crate) command: Vec<OsString>,
}

impl Target {
    /// Whether the servers of the configuration files are meant: no other is named.
    pub(crate) fn is_configured(&self) -> bool {
        self.remote.url.is_none() && self.command.is_empty()
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ViewArgs {
    /// A remembered server, or the URL of a server
    #[arg(value_name = "SERVER|URL", conflicts_with_all = ["url", "server", "command"])]
    pub(crate) of: Option<String>,
    #[command(flatten)]
    pub(crate) target: Target,
}

impl ViewArgs {
    /// The server that is meant, by a word or by options.
    pub(crate) fn into_target(self) -> Target {
        let Self { of, mut target } = self;
        match of {
            Some(url) if url.contains("://") => target.remote.url = Some(url),
            Some(server) => target.server = Some(server),
            None => {}
        }
        target
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  # all tools of all remembered servers
  switchboard tools
  # the tools of one of them
  switchboard tools files
  # one tool in full: parameters, schemas, hints
  switchboard tools files/read
  # every tool with `mail` in its name or description, one line each
  switchboard tools --brief mail
  switchboard tools https://example.com/mcp
  switchboard tools -- switchboard demo-server")]
pub(crate) struct ToolsArgs {
    /// A remembered server, the URL of a server, a tool, `server/tool`, or text to search for
    #[arg(value_name = "SERVER|URL|TOOL|TEXT")]
    pub(crate) query: Option<String>,
    /// One line for each tool: its name, its hints such as [read-only], and the first sentence of its description
    #[arg(short, long)]
    pub(crate) brief: bool,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// Where the result goes instead of standard output.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Save {
    /// Write the result to this file, byte for byte
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["json", "save_dir"])]
    pub(crate) output: Option<PathBuf>,
    /// Write every image, audio clip and resource of the result to a file of its own in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    pub(crate) save_dir: Option<PathBuf>,
}

/// A server at an address, and what is sent along.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Server at an address")]
pub(crate) struct Remote {
    /// The address of the server, instead of a program; ${NAME} is the value of a variable
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Send this header with every request; may be repeated. Others on this machine can see it: write ${NAME} for the
    /// value of a variable, or use --bearer-env for tokens
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = secret)]
    pub(crate) headers: Vec<Secret>,
    /// Run this in a shell before connecting, and send the headers it prints: a JSON object of names to texts
    #[arg(long, value_name = "CMD")]
    pub(crate) header_helper: Option<String>,
    /// Send the token in this environment variable as `Authorization: Bearer …`
    #[arg(long, value_name = "NAME")]
    pub(crate) bearer_env: Option<String>,
    /// How to speak to it: whatever it has, streamable HTTP only, or HTTP+SSE of 2024 only
    #[arg(long, value_name = "WAY", value_enum, default_value_t)]
    pub(crate) transport: Transport,
    /// Allow plain http beyond this machine: everything can be read on the way
    #[arg(long)]
    pub(crate) allow_http: bool,
}

/// A binding over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Transport {
    /// Whatever the server has
    #[default]
    Auto,
    /// Streamable HTTP
    Http,
    /// HTTP+SSE, the binding of 2024
    Sse,
}

/// How to talk to a server.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Options {
    /// Print the specification's own JSON, as the server wrote it; errors as one JSON object on stderr
    #[arg(long)]
    pub(crate) json: bool,
    /// How long to wait for the server to start, and then for each answer
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Show the traffic on stderr, secrets masked
    #[arg(long)]
    pub(crate) trace: bool,
    /// Speak this revision of the protocol and no other, like 2025-06-18
    #[arg(long, value_name = "REV", value_parser = revision)]
    pub(crate) revision: Option<Revision>,
    /// Give the server a variable; may be repeated
    #[arg(short, long, value_name = "K=V", value_parser = pair, conflicts_with = "url")]
    pub(crate) env: Vec<(String, String)>,
    /// Let the server see a variable of this environment; most are withheld
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    pub(crate) inherit_env: Vec<String>,
    /// Start the server in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub(crate) cwd: Option<PathBuf>,
    /// The largest message that is accepted from the server, like 64M; 16M unless given
    #[arg(long, value_name = "BYTES", value_parser = byte_count)]
    pub(crate) max_message: Option<usize>,
    /// Answer the server's questions from this instead of asking: an object keyed by field name
    #[arg(long, value_name = "FILE.json|JSON")]
    pub(crate) answers: Option<String>,
    /// Say more: how the session opened, log messages, details of lists
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Arguments:
  key=value   takes the type of the tool's schema, else it is text;
              repeat a key to fill a list
  key:=json   is JSON: n:=1  tags:='[\"a\",\"b\"]'
  key=@FILE   is the contents of a file: text, or base64 as the schema says
  key:=@FILE  is a file of JSON
  '{…}'       is all arguments as one JSON object; - reads it from stdin

Examples:
  switchboard call add a=1 b=2 -- switchboard demo-server
  switchboard call order_pizza --answers '{\"size\":\"large\"}' \\
      -- switchboard demo-server
  echo '{\"text\":\"hi\"}' | switchboard call echo - -- switchboard demo-server
  switchboard call postcard --save-dir . -- switchboard demo-server
  switchboard call files/read path=notes.txt")]
pub(crate) struct CallArgs {
    /// The tool; of servers that are remembered also as `server/tool` or `mcp__server__tool`
    pub(crate) tool: String,
    /// Its arguments
    #[arg(value_name = "key=value | key:=json | '{…}' | -", allow_hyphen_values = false)]
    pub(crate) pairs: Vec<String>,
    /// All arguments as one JSON object: the text itself, @FILE, or - for stdin. Pairs are put on top
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub(crate) args: Option<String>,
    /// Show the structured content of the result instead of its text
    #[arg(long, conflicts_with_all = ["json", "output"])]
    pub(crate) structured: bool,
    #[command(flatten)]
    pub(crate) save: Save,
    /// Call it without any question, also where it is marked as destructive or has changed; rules that deny hold
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Redirected, a resource is written byte for byte; parts follow each other.

Examples:
  switchboard read demo://readme -- switchboard demo-server
  switchboard read demo://readme --output readme.md -- switchboard demo-server")]
pub(crate) struct ReadArgs {
    /// The URI of the resource
    pub(crate) uri: String,
    #[command(flatten)]
    pub(crate) save: Save,
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  switchboard prompt translate language=French text=hello \\\n      -- switchboard demo-server"
)]
pub(crate) struct PromptArgs {
    /// The prompt
    pub(crate) name: String,
    /// Its arguments, always text
    #[arg(value_name = "key=value", value_parser = pair)]
    pub(crate) arguments: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  switchboard complete --prompt translate language fr \\
      -- switchboard demo-server
  switchboard complete --resource 'demo://city/{name}' name o \\
      -- switchboard demo-server")]
#[group(skip)]
pub(crate) struct CompleteArgs {
    /// The prompt whose argument it is
    #[arg(long, value_name = "NAME", conflicts_with = "resource", required_unless_present = "resource")]
    pub(crate) prompt: Option<String>,
    /// The resource template whose variable it is
    #[arg(long, value_name = "URI")]
    pub(crate) resource: Option<String>,
    /// The argument
    #[arg(value_name = "ARG")]
    pub(crate) argument: String,
    /// What is typed so far; may be empty
    pub(crate) value: String,
    /// An argument that is filled in already
    #[arg(long, value_name = "k=v", value_parser = pair)]
    pub(crate) context: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) target: Target,
}

impl CompleteArgs {
    /// What the prompt or the template is called.
    pub(crate) fn name(&self) -> &str {
        self.prompt.as_deref().or(self.resource.as_deref()).unwrap_or_default()
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without a choice, everything the server offers to tell is listened for.

Example:
  switchboard listen --resource demo://clock --count 3 \\
      -- switchboard demo-server")]
pub(crate) struct ListenArgs {
    /// Updates of this resource
    #[arg(long = "resource", value_name = "URI")]
    pub(crate) uris: Vec<String>,
    /// Changes of the list of tools
    #[arg(long)]
    pub(crate) tools: bool,
    /// Changes of the list of prompts
    #[arg(long)]
    pub(crate) prompts: bool,
    /// Changes of the list of resources
    #[arg(long)]
    pub(crate) resources: bool,
    /// Stop after this many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    #[command(flatten)]
    pub(crate) target: Target,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  source <(switchboard completions bash)
  switchboard completions fish > ~/.config/fish/completions/switchboard.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  switchboard man | man -l -
  switchboard man --dir ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write the pages of all commands into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// The whole command line, for completion scripts and manual pages.
pub(crate) fn command_line() -> clap::Command {
    Args::command()
}

#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// With one server only, and its traffic on stderr
    #[arg(long)]
    pub(crate) trace: bool,
    /// With one server only, in this revision of the protocol, like 2025-06-18
    #[arg(long, value_name = "REV", value_parser = revision)]
    pub(crate) revision: Option<Revision>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  switchboard tools -- switchboard demo-server
  # then: switchboard tools --url http://127.0.0.1:8080/mcp
  switchboard demo-server --http 127.0.0.1:8080
  switchboard demo-server --http 0.0.0.0:8080 --allow-remote \\
      --allow-host box.example")]
pub(crate) struct DemoServerArgs {
    /// Serve over HTTP at /mcp of this address, like 127.0.0.1:8080; port 0 takes a free one
    #[arg(long, value_name = "ADDR", value_parser = socket)]
    pub(crate) http: Option<SocketAddr>,
    /// Serve the binding of 2024 as well, at /sse
    #[arg(long, requires = "http")]
    pub(crate) sse: bool,
    /// Let other machines in. There is no authentication: whoever reaches the port may use the server
    #[arg(long, requires = "http", requires = "allow_host")]
    pub(crate) allow_remote: bool,
    /// A name or address that other machines call this one by; requests for any other are refused
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,
}

impl Command {
    /// How this command's failures are to be told.
    pub(crate) fn error_style(&self) -> ErrorStyle {
        let wants_json = match self {
            Self::Info(args) | Self::Resources(args) | Self::Prompts(args) => args.target.options.json,
            Self::Tools(args) => args.target.options.json,
            Self::Call(args) => args.target.options.json,
            Self::Read(args) => args.target.options.json,
            Self::Prompt(args) => args.target.options.json,
            Self::Complete(args) => args.target.options.json,
            Self::Listen(args) => args.target.options.json,
            Self::List(args) => args.json,
            Self::Add(args) => args.json,
            Self::Remove(args) => args.json,
            Self::Approve(args) => args.json,
            Self::Forget(args) => args.json,
            Self::Enable(args) | Self::Disable(args) => args.json,
            Self::Get(args) => args.json,
            Self::Import(args) => args.json,
            Self::Status(args) => args.json,
            Self::Reconnect(args) => args.json,
            Self::Why(args) => args.json,
            Self::Ps(args) => args.json,
            Self::Doctor(args) => args.json,
            Self::Design(args) => match &args.action {
                DesignAction::Print(args) => args.json,
                DesignAction::Check(args) => args.json,
                DesignAction::Diff(args) => args.json,
            },
            Self::New(_)
            | Self::Quickstart(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Demo(_)
            | Self::DemoServer(_) => false,
        };
        if wants_json { ErrorStyle::Json } else { ErrorStyle::People }
    }
}

/// Reads the command line of this process; what is left to do when there is no command is done here.
pub(crate) fn read() -> Result<Command, ExitCode> {
    match Args::try_parse() {
        Ok(Args { command: Some(command) }) => Ok(command),
        // Like cargo: a program called by its bare name says what it can do.
        Ok(Args { command: None }) => {
            _ = Args::command().print_help();
            Err(ExitCode::SUCCESS)
        }
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            _ = error.print();
            Err(ExitCode::SUCCESS)
        }
        Err(error) => Err(refuse(&error)),
    }
}

fn refuse(error: &clap::Error) -> ExitCode {
    // A command line that cannot be parsed does not say how errors are wanted; look for the flag before the server's own
    // part.
    let wants_json = std::env::args_os().skip(1).take_while(|arg| arg != "--").any(|arg| arg == "--json");
    if !wants_json {
        _ = error.print();
        return ExitCode::from(2);
    }
    let text = error.to_string();
    // What is missing stands on lines of its own below the first.
    let said =
        text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect::<Vec<_>>().join(" ");
    Failure::usage(said.trim_start_matches("error: ")).hint("see `switchboard --help`").tell(ErrorStyle::Json)
}

/// `65536`, `64K`, `64M`, `1G`.
fn byte_count(text: &str) -> Result<usize, String> {
    let plain = text.trim().trim_end_matches(['b', 'B']).trim_end_matches('i');
    let (digits, shift) = match plain.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&plain[..at], 10),
        Some((at, 'm' | 'M')) => (&plain[..at], 20),
        Some((at, 'g' | 'G')) => (&plain[..at], 30),
        _ => (plain, 0),
    };
    let count = digits.trim().parse::<usize>().ok().and_then(|count| count.checked_mul(1 << shift));
    count.filter(|count| *count >= 1024).ok_or_else(|| "expected a size of at least 1K, like 64M".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds, like 30 or 0.5".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("a timeout must be longer than 0 seconds".to_owned()),
    }
}

/// Taken as it stands, so that what is wrong with it is told without showing it.
fn secret(text: &str) -> Result<Secret, Infallible> {
    Ok(Secret::new(text))
}

fn socket(text: &str) -> Result<SocketAddr, String> {
    let local = |port: &str| port.parse().ok().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let known = text.parse().ok().or_else(|| local(text.strip_prefix("localhost:").unwrap_or(text)));
    known.ok_or_else(|| "expected an IP address and a port, like 127.0.0.1:8080 or [::1]:8080".to_owned())
}

fn revision(text: &str) -> Result<Revision, String> {
    let known = Revision::ALL.map(Revision::as_str).join(", ");
    text.parse().map_err(|_| format!("expected one of {known}"))
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn c13_examples_fit_a_terminal_of_80_columns() {
        fn check(command: &clap::Command) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines() {
                assert!(line.chars().count() <= 79, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&command_line());
    }

    #[test]
    fn c10_sizes_are_read() {
        assert_eq!(byte_count("64M"), Ok(64 << 20));
        assert_eq!(byte_count("2GiB"), Ok(2 << 30));
        assert_eq!(byte_count("4096"), Ok(4096));
        for wrong in ["", "M", "1", "64T", "-1K", "99999999999G"] {
            assert!(byte_count(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_to_listen_on_may_be_short() {
        for (given, expected) in [
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("localhost:80", "127.0.0.1:80"),
            ("8080", "127.0.0.1:8080"),
            ("[::1]:0", "[::1]:0"),
        ] {
            assert_eq!(socket(given).map(|address| address.to_string()).as_deref(), Ok(expected));
        }
        for given in ["", "127.0.0.1", "localhost", "example.com:80", "99999"] {
            assert!(socket(given).is_err(), "{given}");
        }
    }

    #[test]
    fn what_follows_two_dashes_is_the_servers() {
        let args =
            Args::try_parse_from(["switchboard", "call", "t", "a=1", "--json", "--", "srv", "--json", "b=2"]);
        let Some(Command::Call(call)) = args.expect("well formed").command else { panic!("a call") };
        assert_eq!(call.pairs, ["a=1"]);
        assert_eq!(call.target.command, ["srv", "--json", "b=2"]);
    }
}
