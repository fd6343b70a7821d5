//! Arguments of `console`.

use super::target::ViewArgs;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The page is opened through a file that only you can read, so that the key to
the console is in no list of processes. Without a browser, its address is
printed; Enter prints a new one.

Examples:
  # all configured servers
  switchboard console
  # one of them
  switchboard console files
  # a server that is not configured
  switchboard console -- npx -y @modelcontextprotocol/server-everything
  # for programs: the address, and the file with the one-time token
  switchboard console --json --no-open")]
pub(crate) struct ConsoleArgs {
    /// Listen on this port of 127.0.0.1; a free one by default
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Do not open a browser; print the address instead
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Let the page add programs to your configuration, too; without it, it adds servers at URLs only
    #[arg(long)]
    pub(crate) allow_config_edit: bool,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}
