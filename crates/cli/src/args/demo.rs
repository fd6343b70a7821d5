//! Arguments of `demo` and `demo-server`.

use switchboard::protocol::Revision;

use super::HttpServerArgs;
use super::value_parsers::revision;

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
    #[command(flatten)]
    pub(crate) server: HttpServerArgs,
    /// Also serve the HTTP+SSE transport of 2024, at /sse
    #[arg(long, requires = "http")]
    pub(crate) sse: bool,
}
