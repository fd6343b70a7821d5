//! All logins of the user, as read once: which of them a server uses.

use switchboard::auth::{AuthError, StoredGrant, TokenStore};
use switchboard::login::{AccountChoice, AccountSelector};
use switchboard::transport::http_client::Address;

use crate::error::{CommandError, ExitKind};
use crate::login::open_store;
use crate::sanitize::one_line;

/// The logins of the user.
#[derive(Debug, Default)]
pub(crate) struct LoginOverview {
    logins: Vec<StoredGrant>,
}

impl LoginOverview {
    /// Reads the logins of the user.
    ///
    /// # Errors
    /// Returns an error if the token store cannot be read.
    pub(crate) async fn read() -> Result<Self, CommandError> {
        let mut logins = open_store()?.list().await.map_err(AuthError::from)?;
        // A usable login before one that was rejected, and the newest first.
        logins.sort_by_key(|login| (login.grant.needs_login(), std::cmp::Reverse(login.grant.obtained_at)));
        Ok(Self { logins })
    }

    /// Returns the login that a command uses at a server; `None` before the first login.
    ///
    /// # Errors
    /// Returns an error that lists the accounts if it is not clear which one is meant.
    pub(crate) fn select(
        &self,
        server: &Address,
        selector: &AccountSelector,
    ) -> Result<Option<&StoredGrant>, CommandError> {
        match selector.choose_at(&self.logins, server.as_str()) {
            AccountChoice::Account(account) => Ok(self
                .logins
                .iter()
                .find(|login| login.grant.server == server.as_str() && login.key.account == account)),
            AccountChoice::Ambiguous(accounts) => Err(ambiguous_account(&accounts)),
        }
    }
}

/// Reports that it is not clear which account is meant.
fn ambiguous_account(accounts: &[String]) -> CommandError {
    let names: Vec<String> = accounts.iter().map(|account| one_line(account)).collect();
    let message = format!(
        "you have {} accounts at this server, and none is named `default`: {}",
        names.len(),
        names.join(", ")
    );
    let example = names.first().map_or("NAME", String::as_str);
    CommandError::new(ExitKind::Authentication, "ambiguous_account", message)
        .hint(format!("name one of them, like --account {example}"))
}
