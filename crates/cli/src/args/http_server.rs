//! Arguments of commands that serve over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::value_parsers::socket;

/// Where a command listens, and who may use it.
#[derive(Debug, clap::Args)]
pub(crate) struct HttpServerArgs {
    /// Serve over HTTP at /mcp on this address, like 127.0.0.1:8080; port 0 chooses a free port
    #[arg(long, value_name = "ADDR", value_parser = socket)]
    pub(crate) http: Option<SocketAddr>,
    /// Accept only requests with an API key of this file, which `switchboard key` manages
    #[arg(long, value_name = "FILE", requires = "http", conflicts_with = "allow_remote")]
    pub(crate) api_keys: Option<PathBuf>,
    /// Accept requests from other machines. There is no authentication: everyone who reaches the port can send requests
    #[arg(long, requires = "http", requires = "allow_host")]
    pub(crate) allow_remote: bool,
    /// A host name or address of this machine that requests may use; requests for other hosts are rejected
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,
}
