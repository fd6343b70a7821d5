//! Stored logins as the credentials of a host.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use switchboard_auth::{AuthError, CallbackPort, FileStore, StoreError, StoredGrant, TokenStore};
use switchboard_host::config::{GrantConfig, OAuthConfig};
use switchboard_host::{CredentialProvider, ServerSpec, Transport};
use switchboard_http::{Address, Authorizer, BoxFuture, HttpClient, HttpClientOptions, PlainHttp};

use crate::login::accounts::AccountSelector;
use crate::login::authorizer::{StoredLoginAuthorizer, UnusableLogin};
use crate::login::options::oauth_options;

/// The logins of a user, as credentials of the servers of a host.
///
/// Tokens are found by the URL of a server and the account: that of its `oauth` block, `default`, or the only one there is. A server with an `Authorization` header of
/// its own does not use them. A login of another process is noticed: the host reconnects the server.
#[derive(Debug, Clone)]
pub struct StoredLogins {
    store: Arc<dyn TokenStore>,
    http: HttpClient,
    account: AccountSelector,
}

impl StoredLogins {
    /// Opens the token store of this user, that of the command `switchboard login`. It may be empty.
    ///
    /// # Errors
    /// If there is no home directory, others could read the store, or extra root certificates cannot be read.
    pub fn open() -> Result<Self, AuthError> {
        let no_home = || StoreError::Other("neither HOME nor XDG_STATE_HOME is set".to_owned());
        Self::open_at(FileStore::default_directory().ok_or_else(no_home)?)
    }

    /// Opens the token store in this directory.
    ///
    /// # Errors
    /// If others could read the store, or extra root certificates cannot be read.
    pub fn open_at(directory: impl Into<PathBuf>) -> Result<Self, AuthError> {
        let http = HttpClient::new(HttpClientOptions::from_environment())?;
        Ok(Self::new(Arc::new(FileStore::new(directory.into())?), http))
    }

    /// Uses this store, and this client for requests to authorization servers.
    pub fn new(store: Arc<dyn TokenStore>, http: HttpClient) -> Self {
        Self { store, http, account: AccountSelector::Any }
    }

    /// Returns the token store.
    pub fn store(&self) -> &Arc<dyn TokenStore> {
        &self.store
    }

    /// Uses this account where the `oauth` block of a server names none.
    #[must_use]
    pub fn with_account(mut self, account: AccountSelector) -> Self {
        self.account = account;
        self
    }

    /// Returns an authorizer that sends and refreshes the stored tokens of a server, with the settings of an `oauth` block.
    pub fn authorizer_for(&self, server: Address, config: Option<&OAuthConfig>) -> Arc<dyn Authorizer> {
        let options = match config.map(oauth_options).transpose() {
            Ok(options) => options.unwrap_or_default(),
            Err(error) => return Arc::new(UnusableLogin(error)),
        };
        let has_client = config.is_some_and(|config| {
            config.client_id.is_some()
                || config.client_metadata_url.is_some()
                || config.grant != GrantConfig::AuthorizationCode
        });
        let port = config.and_then(|config| config.callback_port);
        Arc::new(StoredLoginAuthorizer {
            http: self.http.clone(),
            server,
            options,
            store: Arc::clone(&self.store),
            selector: self.selector(config),
            registers_at: (!has_client).then(|| port.map_or(CallbackPort::Stable, CallbackPort::Fixed)),
            chosen: OnceLock::new(),
        })
    }

    fn selector(&self, config: Option<&OAuthConfig>) -> AccountSelector {
        match (&self.account, config.and_then(|config| config.account.as_ref())) {
            (AccountSelector::Any | AccountSelector::Preferred(_), Some(account)) => {
                AccountSelector::Named(account.clone())
            }
            (selector, _) => selector.clone(),
        }
    }
}

impl CredentialProvider for StoredLogins {
    fn authorizer(&self, _: &str, spec: &ServerSpec) -> Option<Arc<dyn Authorizer>> {
        Some(self.authorizer_for(login_address(spec)?, spec.oauth.as_deref()))
    }

    fn version<'a>(&'a self, _: &'a str, spec: &'a ServerSpec) -> BoxFuture<'a, Option<u64>> {
        Box::pin(async move {
            let server = login_address(spec)?;
            let selector = self.selector(spec.oauth.as_deref());
            let is_meant = |account: &str| match &selector {
                AccountSelector::Named(named) => named == account,
                _ => true,
            };
            // A store that cannot be read has no credentials; the next request reports why.
            let mut logins = self.store.list().await.ok()?;
            logins.retain(|login| {
                login.grant.server == server.as_str()
                    && is_meant(&login.key.account)
                    && !login.grant.needs_login()
            });
            let mut hasher = DefaultHasher::new();
            for StoredGrant { key, generation, .. } in &logins {
                (&key.issuer, &key.client_id, &key.account, generation).hash(&mut hasher);
            }
            (!logins.is_empty()).then(|| hasher.finish())
        })
    }
}

/// Returns the address for which tokens are issued; `None` for a server that uses no stored login, because it is not at a URL or
/// has an `Authorization` header of its own.
pub fn login_address(spec: &ServerSpec) -> Option<Address> {
    match &spec.transport {
        Transport::Http(http) => {
            let has_own = http.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
            http.check().ok().filter(|_| !has_own)
        }
        Transport::Proxy { url, .. } => Address::parse(url, PlainHttp::LoopbackOnly).ok(),
        _ => None,
    }
}
