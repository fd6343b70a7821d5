//! Arguments of the commands about logins.

use clap::Args;

use super::value_parsers::pair;

#[derive(Debug, Default, Args)]
#[command(after_help = "\
Examples:
  switchboard login github
  switchboard login https://mcp.example.com/mcp --account work
  # the browser is on another machine
  switchboard login github --device
  switchboard login github --paste
  switchboard login crm --client-id 0oa1b2c3 --scope 'crm.read crm.write'")]
pub(crate) struct LoginArgs {
    /// The server: the name of a configured one, or a URL
    pub(crate) server: String,
    /// A name for the account, if you have several at one server; by default that of its entry, or `default`
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// Confirm a code in a browser on any device; needs a server that supports it
    #[arg(long, conflicts_with_all = ["paste", "port", "callback_url"])]
    pub(crate) device: bool,
    /// Paste the address of the callback instead of receiving it: the browser is on another machine
    #[arg(long, conflicts_with_all = ["port", "callback_url"])]
    pub(crate) paste: bool,
    /// Receive the callback on this port of 127.0.0.1
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Redirect the browser to this URL, which a tunnel or proxy forwards to the port, with its path
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
    /// Add a parameter to the authorization request, like access_type=offline; may be repeated
    #[arg(long, value_name = "K=V", value_parser = pair)]
    pub(crate) authorize_param: Vec<(String, String)>,
    /// Read the metadata of the authorization server at this URL, and accept the issuer it names
    #[arg(long, value_name = "URL")]
    pub(crate) server_metadata_url: Option<String>,
    /// Use PKCE although the authorization server does not list it
    #[arg(long)]
    pub(crate) assume_pkce: bool,
    /// Print JSON, without tokens; with --device, first an object with the code
    #[arg(long)]
    pub(crate) json: bool,
}

impl LoginArgs {
    /// Returns the arguments of a login to a server without options.
    pub(crate) fn new(server: &str) -> Self {
        Self { server: server.to_owned(), ..Self::default() }
    }
}

#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    /// The server: the name of a configured one, or a URL
    pub(crate) server: String,
    /// The account, if you have several at the server
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
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
