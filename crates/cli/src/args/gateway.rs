//! Arguments of `gateway` and `plan`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use switchboard::gateway::PrefixPolicy;
use switchboard::host::DriftPolicy;

use super::value_parsers::{seconds, socket};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  # one entry for all your servers in the configuration of another program
  switchboard gateway --stdio
  # then: switchboard tools --url http://127.0.0.1:8080/mcp
  switchboard gateway --http 127.0.0.1:8080
  # for servers with credentials: only callers with a key
  switchboard key create laptop --file keys.json
  switchboard gateway --http 127.0.0.1:8080 --api-keys keys.json
  # everything in one file, which is read again when it changes
  switchboard gateway --config gateway.toml
  # its state in the browser, read-only
  switchboard gateway --http 127.0.0.1:8080 --console
  # one of its views, for a program that starts its servers
  switchboard gateway --config gateway.toml --stdio --view support
  # then: switchboard tools --url unix:gateway.sock
  switchboard gateway --unix gateway.sock")]
pub(crate) struct GatewayArgs {
    /// The configuration file, which is read again when it changes and on SIGHUP; flags win. See docs/gateway-config.md
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Serve over HTTP at /mcp on this address, like 127.0.0.1:8080; port 0 chooses a free port
    #[arg(long, value_name = "ADDR", value_parser = socket)]
    pub(crate) http: Option<SocketAddr>,
    /// Serve HTTP on a Unix socket at this path, which only this user can connect to
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,
    /// Serve on stdin and stdout; the default if stdin is not a terminal
    #[arg(long, conflicts_with_all = ["http", "unix"])]
    pub(crate) stdio: bool,
    /// Serve this view of the configuration file on stdin and stdout; over HTTP each view is at /mcp/NAME
    #[arg(long, value_name = "NAME", requires = "config", conflicts_with_all = ["http", "unix"])]
    pub(crate) view: Option<String>,
    /// Accept only HTTP requests with an API key of this file, which `switchboard key` manages
    #[arg(long, value_name = "FILE")]
    pub(crate) api_keys: Option<PathBuf>,
    /// Serve over HTTP without API keys although servers have credentials: every program on this machine can use them
    #[arg(long, conflicts_with = "api_keys")]
    pub(crate) anonymous: bool,
    /// Accept requests from other machines
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// A host name or address of this machine that requests may use; requests for other hosts are rejected
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// The URL that clients use, also behind a proxy: the audience of their tokens
    #[arg(long, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Serve https with the certificate in this PEM file, followed by its intermediate ones; read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// How many seconds calls under way may take after SIGTERM; 30 if left out
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) drain: Option<Duration>,
    /// Whether names of tools and prompts begin with the name of their server; always if left out
    #[arg(long, value_name = "WHEN")]
    pub(crate) prefix: Option<PrefixArg>,
    /// Rules, limits and payload rules in TOML; see docs/gateway-policy.md
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Record calls, lists and refusals in this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// Serve Prometheus metrics at /metrics on this address of their own, like 127.0.0.1:9464
    #[arg(long, value_name = "ADDR", value_parser = socket)]
    pub(crate) metrics: Option<SocketAddr>,
    /// Show servers, policy, limits and the audit log in the browser, read-only, on this loopback address; on a free port if
    /// left out. See docs/console.md
    #[arg(long, value_name = "ADDR", value_parser = socket, num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    pub(crate) console: Option<SocketAddr>,
    /// What happens to a tool whose definition has changed since it was first seen; withheld if left out
    #[arg(long, value_name = "WHAT")]
    pub(crate) drift: Option<DriftArg>,
}

/// What happens to a tool whose definition has changed.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum DriftArg {
    /// It is not listed and cannot be called until it is accepted
    Withhold,
    /// It is only reported
    Report,
}

impl From<DriftArg> for DriftPolicy {
    fn from(drift: DriftArg) -> Self {
        match drift {
            DriftArg::Withhold => Self::Withhold,
            DriftArg::Report => Self::Report,
        }
    }
}

/// When names are prefixed.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum PrefixArg {
    /// Always: `server__tool`
    Always,
    /// Only names that several servers use
    Conflict,
    /// Never; names that several servers use are withheld
    Never,
}

impl From<PrefixArg> for PrefixPolicy {
    fn from(prefix: PrefixArg) -> Self {
        match prefix {
            PrefixArg::Always => Self::Always,
            PrefixArg::Conflict => Self::Conflict,
            PrefixArg::Never => Self::Never,
        }
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit codes: 0 without changes, 2 with changes, 1 if the file is not valid.

Examples:
  # against what the running gateway has applied
  switchboard plan --config gateway.toml
  # against an older file, with the tools that the servers list now
  switchboard plan --config gateway.toml --from old.toml --connect")]
pub(crate) struct PlanArgs {
    /// The new configuration file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Compare with this file instead of what a gateway has applied
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Start new and changed servers, to list their tools
    #[arg(long)]
    pub(crate) connect: bool,
    /// Print the differences as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
