//! Arguments of `gateway`.

use std::net::SocketAddr;
use std::path::PathBuf;

use switchboard::gateway::PrefixPolicy;

use super::value_parsers::socket;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  # one entry for all your servers in the configuration of another program
  switchboard gateway --stdio
  # then: switchboard tools --url http://127.0.0.1:8080/mcp
  switchboard gateway --http 127.0.0.1:8080")]
pub(crate) struct GatewayArgs {
    /// Serve over HTTP at /mcp on this address, like 127.0.0.1:8080; port 0 chooses a free port
    #[arg(long, value_name = "ADDR", value_parser = socket)]
    pub(crate) http: Option<SocketAddr>,
    /// Serve on stdin and stdout; the default if stdin is not a terminal
    #[arg(long, conflicts_with = "http")]
    pub(crate) stdio: bool,
    /// Whether names of tools and prompts begin with the name of their server
    #[arg(long, value_name = "WHEN", default_value = "always")]
    pub(crate) prefix: PrefixArg,
    /// Rules, limits and payload rules in TOML; see docs/gateway-policy.md
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Record every request in this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// Accept requests from other machines. There is no authentication: everyone who reaches the port can use the servers
    #[arg(long, requires = "http", requires = "allow_host")]
    pub(crate) allow_remote: bool,
    /// A host name or address of this machine that requests may use; requests for other hosts are rejected
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,
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
