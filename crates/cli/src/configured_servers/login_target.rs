//! The server to log in to: a configured one, or a URL.

use std::sync::Arc;

use switchboard::auth::{OAuthOptions, ServerAccount};
use switchboard::host::config::{OAuthConfig, OffReason, StartPolicy};
use switchboard::host::{ServerSpec, Status, Transport};
use switchboard::login::oauth_options;
use switchboard::transport::http_client::{Address, Challenge, HttpClient, PlainHttp};

use crate::configured_servers::files::ConfigFiles;
use crate::error::{CommandError, ExitKind, with_account};
use crate::login::probe;
use crate::sanitize::one_line;
use crate::shell_quote::shell_quote;

/// The server to log in to.
#[derive(Debug)]
pub(crate) struct LoginTarget {
    /// The name by which the user knows it.
    pub(crate) name: String,
    pub(crate) address: Address,
    /// The `oauth` block of its entry.
    pub(crate) oauth: Option<Arc<OAuthConfig>>,
}

impl LoginTarget {
    /// Resolves what the user typed: the name of a configured server, or a URL.
    ///
    /// # Errors
    /// Returns an error if the server is not configured, or not reached over HTTP.
    pub(crate) fn resolve(typed: &str) -> Result<Self, CommandError> {
        if typed.contains("://") {
            let address = Address::parse(typed, PlainHttp::LoopbackOnly)
                .map_err(|error| CommandError::usage(error.to_string()))?;
            return Ok(Self { name: typed.to_owned(), address, oauth: None });
        }
        let files = ConfigFiles::read()?;
        let spec = ServerSpec::from_configured(files.server(typed)?)?;
        // Others chose the URL, and where secrets go.
        if spec.start == StartPolicy::Off(OffReason::Unapproved) {
            return Err(CommandError::not_ready(typed, Status::AwaitingApproval));
        }
        let address = match &spec.transport {
            Transport::Http(http) => http.check().map_err(|error| CommandError::usage(error.to_string()))?,
            Transport::Proxy { url, .. } => Address::parse(url, PlainHttp::LoopbackOnly)
                .map_err(|error| CommandError::usage(error.to_string()))?,
            _ => {
                let message =
                    format!("{} is not a server at a URL, so there is nothing to log in to", one_line(typed));
                return Err(CommandError::new(ExitKind::Usage, "usage", message)
                    .hint("a program gets its credentials from its environment: see `env` in its entry"));
            }
        };
        Ok(Self { name: typed.to_owned(), address, oauth: spec.oauth })
    }

    /// Returns the settings of logins to it: those of its entry.
    ///
    /// # Errors
    /// Returns an error if a file that they name cannot be read.
    pub(crate) fn options(&self) -> Result<OAuthOptions, CommandError> {
        Ok(self.oauth.as_deref().map(oauth_options).transpose()?.unwrap_or_default())
    }

    /// Returns the account that the command line names, else the one of its entry.
    pub(crate) fn account<'a>(&'a self, named: Option<&'a str>) -> Option<&'a str> {
        named.or_else(|| self.oauth.as_ref()?.account.as_deref())
    }

    /// Returns the challenges of the server; none if it does not refuse a request without credentials.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached.
    pub(crate) async fn challenges(&self, http: &HttpClient) -> Result<Vec<Challenge>, CommandError> {
        let answer = probe(http, &self.address).await?;
        Ok(if answer.is_refused() { answer.challenges } else { Vec::new() })
    }

    /// Returns the name of the server, with the account unless that is the default one.
    pub(crate) fn with_account(&self, account: &str) -> String {
        let name = one_line(&self.name);
        match account {
            ServerAccount::DEFAULT => name,
            account => format!("{name} (account {})", one_line(account)),
        }
    }

    /// Returns the command that logs in to this server.
    pub(crate) fn login_command(&self, account: Option<&str>) -> String {
        let command = format!("switchboard login {}", shell_quote(&one_line(&self.name)));
        account.map_or(command.clone(), |account| with_account(&command, account))
    }
}
