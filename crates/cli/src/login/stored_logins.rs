//! The token store of this user, and authorizers that use it.

use std::sync::Arc;

use switchboard::auth::{AuthError, FileStore, OAuthOptions, TokenStore};
use switchboard::host::{CredentialProvider, ServerSpec, Transport};
use switchboard::transport::http_client::{Address, Authorizer, HttpClient, HttpClientOptions};

use crate::error::{CommandError, ExitKind};
use crate::login::account_authorizer::AccountAuthorizer;
use crate::login::accounts::AccountSelector;
use crate::output::Screen;
use crate::sanitize::one_line;

/// Provides the stored logins to a host. Servers with an `Authorization` header of their own do not use them.
#[derive(Debug)]
pub(crate) struct StoredLogins {
    store: Arc<dyn TokenStore>,
    http: HttpClient,
    account: AccountSelector,
}

impl StoredLogins {
    /// Opens the token store of this user, which may be empty: a login of another process is then found, too. A store that
    /// cannot be used is a warning: most servers need no login.
    pub(crate) fn open(screen: &Screen) -> Option<Self> {
        let directory = FileStore::default_directory()?;
        let http = HttpClient::new(HttpClientOptions::from_environment()).ok()?;
        match FileStore::new(directory) {
            Ok(store) => Some(Self { store: Arc::new(store), http, account: AccountSelector::Any }),
            Err(error) => {
                screen.warn(&format!("stored logins are not used: {}", one_line(&error.to_string())));
                None
            }
        }
    }

    /// Uses this account.
    pub(crate) fn with_account(mut self, account: AccountSelector) -> Self {
        self.account = account;
        self
    }

    /// Returns an authorizer that sends and refreshes the stored token of a server.
    pub(crate) fn authorizer_for(&self, server: Address) -> AccountAuthorizer {
        let (http, store) = (self.http.clone(), Arc::clone(&self.store));
        AccountAuthorizer::new(http, server, OAuthOptions::default(), store, self.account.clone())
    }
}

impl CredentialProvider for StoredLogins {
    fn authorizer(&self, _: &str, spec: &ServerSpec) -> Option<Arc<dyn Authorizer>> {
        let Transport::Http(http) = &spec.transport else { return None };
        let has_own = http.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
        let address = http.check().ok().filter(|_| !has_own)?;
        Some(Arc::new(self.authorizer_for(address)))
    }
}

/// Returns the token store of this user, which is created when the first login is stored.
///
/// # Errors
/// Returns an error if there is no home directory, or others could read the store.
pub(crate) fn open_store() -> Result<Arc<FileStore>, CommandError> {
    let directory = FileStore::default_directory().ok_or_else(|| {
        CommandError::new(ExitKind::Other, "no_home", "neither HOME nor XDG_STATE_HOME is set")
            .hint("set HOME to your home directory")
    })?;
    Ok(Arc::new(FileStore::new(directory).map_err(AuthError::from)?))
}

impl From<AuthError> for CommandError {
    fn from(error: AuthError) -> Self {
        let text = error.to_string();
        // The first line says what failed, the rest what to do.
        let (message, hint) =
            text.split_once('\n').map_or((text.as_str(), None), |(what, hint)| (what, Some(hint)));
        let (exit, kind) = match &error {
            AuthError::Store(_) => (ExitKind::Other, "token_store"),
            AuthError::Http(_) => (ExitKind::Unreachable, "unreachable"),
            AuthError::NeedsClientRegistration { .. } => {
                (ExitKind::Authentication, "needs_client_registration")
            }
            AuthError::BlockedByAdmin(_) => (ExitKind::Authentication, "blocked_by_admin"),
            AuthError::LoginAborted(_) => (ExitKind::Authentication, "login_aborted"),
            AuthError::Callback(_) => (ExitKind::Authentication, "login_rejected"),
            _ => (ExitKind::Authentication, "login_failed"),
        };
        let failure = Self::new(exit, kind, message);
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
