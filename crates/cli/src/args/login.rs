//! Arguments of the commands about logins.

use clap::Args;

/// Account of a user at a server.
#[derive(Debug, Args)]
pub(crate) struct AccountArgs {
    /// The account, if you have several at one server
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) account: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  switchboard login github
  switchboard login https://mcp.example.com/mcp --account work
  switchboard login github --paste          (the browser is on another machine)
  switchboard login crm --client-id 0oa1b2c3 --scope 'crm.read crm.write'")]
pub(crate) struct LoginArgs {
    /// The server: the name of a configured one, or a URL
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) account: AccountArgs,
    /// Paste the address of the callback instead of receiving it: the browser is on another machine
    #[arg(long, conflicts_with_all = ["port", "callback_url"])]
    pub(crate) paste: bool,
    /// Receive the callback on this port of 127.0.0.1
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Redirect the browser to this URL, which a tunnel or proxy forwards to the port
    #[arg(long, value_name = "URL", requires = "port")]
    pub(crate) callback_url: Option<String>,
    /// Use a client that was registered by hand
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// Read the secret of the client from this environment variable
    #[arg(long, value_name = "NAME", requires = "client_id")]
    pub(crate) client_secret_env: Option<String>,
    /// Request these scopes instead of those the server asks for
    #[arg(long, value_name = "SCOPES")]
    pub(crate) scope: Option<String>,
    /// Value of the parameter `resource`; `omit` leaves it out, which some authorization servers require
    #[arg(long, value_name = "URL|omit")]
    pub(crate) resource: Option<String>,
    /// Print JSON, without tokens
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    /// The server: the name of a configured one, or a URL
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) account: AccountArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AccountsArgs {
    /// Print JSON, without tokens
    #[arg(long)]
    pub(crate) json: bool,
}
