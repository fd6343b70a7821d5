//! Arguments of `demo` and `demo-server`.

use std::net::SocketAddr;
use std::path::PathBuf;

use switchboard::protocol::Revision;

use super::value_parsers::{revision, socket};

#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Use one server only, and print its messages to stderr
    #[arg(long)]
    pub(crate) trace: bool,
    /// Use one server only, with this revision of the protocol, like 2025-06-18
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
    /// Serve over HTTP at /mcp on this address, like 127.0.0.1:8080; port 0 chooses a free port
    #[arg(long, value_name = "ADDR", value_parser = socket)]
    pub(crate) http: Option<SocketAddr>,
    /// Accept only requests with an API key of this file, which `switchboard key` manages
    #[arg(long, value_name = "FILE", requires = "http", conflicts_with = "allow_remote")]
    pub(crate) api_keys: Option<PathBuf>,
    /// Also serve the HTTP+SSE transport of 2024, at /sse
    #[arg(long, requires = "http")]
    pub(crate) sse: bool,
    /// Accept requests from other machines. There is no authentication: everyone who reaches the port can use the server
    #[arg(long, requires = "http", requires = "allow_host")]
    pub(crate) allow_remote: bool,
    /// A host name or address of this machine that requests may use; requests for other hosts are rejected
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,
}
