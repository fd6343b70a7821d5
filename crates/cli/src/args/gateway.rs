//! Arguments of `gateway`.

use std::path::PathBuf;

use switchboard::gateway::PrefixPolicy;

use super::HttpServerArgs;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  # one entry for all your servers in the configuration of another program
  switchboard gateway --stdio
  # then: switchboard tools --url http://127.0.0.1:8080/mcp
  switchboard gateway --http 127.0.0.1:8080
  # for servers with credentials: only callers with a key
  switchboard key create laptop --file keys.json
  switchboard gateway --http 127.0.0.1:8080 --api-keys keys.json")]
pub(crate) struct GatewayArgs {
    #[command(flatten)]
    pub(crate) server: HttpServerArgs,
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
    /// Serve over HTTP without API keys although servers have credentials: every program on this machine can use them
    #[arg(long, requires = "http", conflicts_with = "api_keys")]
    pub(crate) anonymous: bool,
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
