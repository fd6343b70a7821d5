//! The server a command is about, and the options of its session.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::ArgAction;
use switchboard::protocol::Revision;
use switchboard::transport::http_client::Secret;

use super::value_parsers::{byte_count, pair, revision, seconds, secret};

/// The server a command is about, with the options of its session.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ServerTarget {
    #[command(flatten)]
    pub(crate) options: SessionOptions,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    /// A configured server; without any server, all configured servers
    #[arg(long, value_name = "NAME", help_heading = "Server", conflicts_with_all = ["url", "command"])]
    pub(crate) server: Option<String>,
    /// The server: a program and its arguments, after `--`
    #[arg(last = true, value_name = "CMD ARGS", help_heading = "Server")]
    pub(crate) command: Vec<OsString>,
}

impl ServerTarget {
    /// Returns whether the command is about configured servers: neither a URL nor a command is given.
    pub(crate) fn is_configured(&self) -> bool {
        self.remote.url.is_none() && self.command.is_empty()
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ViewArgs {
    /// A configured server, or the URL of a server
    #[arg(value_name = "SERVER|URL", conflicts_with_all = ["url", "server", "command"])]
    pub(crate) of: Option<String>,
    #[command(flatten)]
    pub(crate) target: ServerTarget,
}

impl ViewArgs {
    /// Returns the target with the positional server or URL applied.
    pub(crate) fn into_target(self) -> ServerTarget {
        let Self { of, mut target } = self;
        match of {
            Some(url) if url.contains("://") => target.remote.url = Some(url),
            Some(server) => target.server = Some(server),
            None => {}
        }
        target
    }
}

/// A server at a URL, and the headers sent to it.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Server at an address")]
pub(crate) struct RemoteArgs {
    /// The URL of the server, or unix:PATH for a Unix socket; ${NAME} is replaced by the value of a variable
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Send this header with every request; may be repeated. Command lines are visible to other users: write ${NAME}
    /// for the value of a variable, or use --bearer-env for tokens
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = secret)]
    pub(crate) headers: Vec<Secret>,
    /// Run this shell command before connecting, and send the headers it prints: a JSON object of names to strings
    #[arg(long, value_name = "CMD")]
    pub(crate) header_helper: Option<String>,
    /// Send the token in this environment variable as `Authorization: Bearer …`
    #[arg(long, value_name = "NAME")]
    pub(crate) bearer_env: Option<String>,
    /// The HTTP transport: detect it, streamable HTTP only, or HTTP+SSE of 2024 only
    #[arg(long, value_name = "WAY", value_enum, default_value_t)]
    pub(crate) transport: HttpTransport,
    /// Allow plain http to other machines: everything can be read in transit
    #[arg(long)]
    pub(crate) allow_http: bool,
}

/// HTTP transport of a server at a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum HttpTransport {
    /// Detect what the server supports
    #[default]
    Auto,
    /// Streamable HTTP
    Http,
    /// HTTP+SSE, the transport of 2024
    Sse,
}

/// Options of a session with a server.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct SessionOptions {
    /// Print the JSON of the protocol as the server wrote it; errors as one JSON object on stderr
    #[arg(long)]
    pub(crate) json: bool,
    /// Timeout for the start of the server, and then for each response
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// Print all messages to stderr, secrets masked
    #[arg(long)]
    pub(crate) trace: bool,
    /// Record all messages to this file, secrets masked, for `switchboard replay` and `switchboard test`
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Replace the file of --record if it exists
    #[arg(long, requires = "record")]
    pub(crate) overwrite: bool,
    /// Use only this revision of the protocol, like 2025-06-18
    #[arg(long, value_name = "REV", value_parser = revision)]
    pub(crate) revision: Option<Revision>,
    /// Set an environment variable of the server; may be repeated
    #[arg(short, long, value_name = "K=V", value_parser = pair, conflicts_with = "url")]
    pub(crate) env: Vec<(String, String)>,
    /// Pass a variable of this environment to the server; most are withheld
    #[arg(long, value_name = "NAME", conflicts_with = "url")]
    pub(crate) inherit_env: Vec<String>,
    /// Start the server in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    pub(crate) cwd: Option<PathBuf>,
    /// Maximum size of a message from the server, like 64M; the default is 16M
    #[arg(long, value_name = "BYTES", value_parser = byte_count)]
    pub(crate) max_message: Option<usize>,
    /// Answer the server's questions from this JSON object, keyed by field name, instead of asking
    #[arg(long, value_name = "FILE.json|JSON")]
    pub(crate) answers: Option<String>,
    /// Use this account, if you are logged in to the server with several; see `switchboard accounts`
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// Print more: the handshake, log messages, details of lists
    #[arg(short, long, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

impl SessionOptions {
    /// Returns the options that apply to a program, each with whether it is given.
    pub(crate) fn program_options(&self) -> [(bool, &'static str); 3] {
        [
            (!self.env.is_empty(), "--env"),
            (!self.inherit_env.is_empty(), "--inherit-env"),
            (self.cwd.is_some(), "--cwd"),
        ]
    }
}
