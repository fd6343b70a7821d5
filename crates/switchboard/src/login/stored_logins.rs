//! Stored logins as the credentials of a host.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use switchboard_auth::{
    AuthError, CallbackPort, FileStore, OAuthAuthorizer, OAuthOptions, ServerAccount, StoreError, TokenStore,
};
use switchboard_host::config::{GrantConfig, OAuthConfig};
use switchboard_host::{CredentialProvider, ServerSpec, Transport};
use switchboard_http::{Address, Authorizer, BoxFuture, HttpClient, HttpClientOptions, PlainHttp};

use crate::login::authorizer::{StoredLoginAuthorizer, UnusableLogin};
use crate::login::options::oauth_options;

/// The logins of a user, as credentials of the servers of a host.
///
/// Tokens are found by the URL of a server and the `account` of its `oauth` block. A server with an `Authorization` header of
/// its own does not use them. A login of another process is noticed: the host reconnects the server.
#[derive(Debug, Clone)]
pub struct StoredLogins {
    store: Arc<dyn TokenStore>,
    http: HttpClient,
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
        Self { store, http }
    }

    /// Returns the token store.
    pub fn store(&self) -> &Arc<dyn TokenStore> {
        &self.store
    }

    /// Returns an authorizer that sends and refreshes the stored token of a server.
    pub fn authorizer_for(&self, server: Address, options: OAuthOptions) -> OAuthAuthorizer {
        OAuthAuthorizer::new(self.http.clone(), server, options).with_store(Arc::clone(&self.store))
    }

    /// Returns the authorizer of a server with the settings of its `oauth` block.
    fn configured(
        &self,
        server: Address,
        config: Option<&OAuthConfig>,
    ) -> Result<Arc<dyn Authorizer>, AuthError> {
        let options = config.map(oauth_options).transpose()?.unwrap_or_default();
        let has_client = config.is_some_and(|config| {
            config.client_id.is_some()
                || config.client_metadata_url.is_some()
                || config.grant != GrantConfig::AuthorizationCode
        });
        let port = config.and_then(|config| config.callback_port);
        let registers_at = (!has_client).then(|| port.map_or(CallbackPort::Stable, CallbackPort::Fixed));
        let oauth = self.authorizer_for(server.clone(), options);
        Ok(Arc::new(StoredLoginAuthorizer { oauth, server, registers_at }))
    }
}

impl CredentialProvider for StoredLogins {
    fn authorizer(&self, _: &str, spec: &ServerSpec) -> Option<Arc<dyn Authorizer>> {
        let server = login_address(spec)?;
        let configured = self.configured(server, spec.oauth.as_deref());
        Some(configured.unwrap_or_else(|error| Arc::new(UnusableLogin(error))))
    }

    fn version<'a>(&'a self, _: &'a str, spec: &'a ServerSpec) -> BoxFuture<'a, Option<u64>> {
        Box::pin(async move {
            let server = login_address(spec)?;
            let account = spec.oauth.as_ref().and_then(|oauth| oauth.account.as_deref());
            let account = ServerAccount::new(server.as_str(), account.unwrap_or(ServerAccount::DEFAULT));
            // A store that cannot be read has no credentials; the next request reports why.
            let stored = self.store.find(&account).await.ok()??;
            let mut hasher = DefaultHasher::new();
            (&stored.key.issuer, &stored.key.client_id, stored.generation).hash(&mut hasher);
            (!stored.grant.needs_login()).then(|| hasher.finish())
        })
    }
}

/// Returns the address for which tokens are issued; `None` for a server that uses no stored login.
fn login_address(spec: &ServerSpec) -> Option<Address> {
    match &spec.transport {
        Transport::Http(http) => {
            let has_own = http.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
            http.check().ok().filter(|_| !has_own)
        }
        Transport::Proxy { url, .. } => Address::parse(url, PlainHttp::LoopbackOnly).ok(),
        _ => None,
    }
}
