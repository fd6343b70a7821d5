//! Authorizes requests with the account that the user means, as far as the stored logins tell.

use std::fmt;
use std::sync::{Arc, OnceLock};

use http::StatusCode;
use http::header::HeaderMap;
use switchboard::auth::{AuthError, OAuthAuthorizer, OAuthOptions, TokenStore};
use switchboard::transport::http_client::{
    Address, AuthorizeError, Authorizer, BoxFuture, Credentials, HttpClient, RequestTarget, Retry,
    UnauthorizedResponse,
};

use crate::login::accounts::{AccountChoice, AccountSelector};

/// Chooses the account at the first request that has one to choose; later requests use the same.
pub(crate) struct AccountAuthorizer {
    http: HttpClient,
    server: Address,
    options: OAuthOptions,
    store: Arc<dyn TokenStore>,
    selector: AccountSelector,
    chosen: OnceLock<OAuthAuthorizer>,
}

impl AccountAuthorizer {
    /// Returns an authorizer for a server. The account of the options does not count.
    pub(crate) fn new(
        http: HttpClient,
        server: Address,
        options: OAuthOptions,
        store: Arc<dyn TokenStore>,
        selector: AccountSelector,
    ) -> Self {
        Self { http, server, options, store, selector, chosen: OnceLock::new() }
    }

    /// Returns the authorizer of the chosen account.
    async fn choose(&self) -> Result<OAuthAuthorizer, AuthorizeError> {
        if let Some(chosen) = self.chosen.get() {
            return Ok(chosen.clone());
        }
        let logins = self.store.list().await.map_err(AuthError::from)?;
        let is_here = logins.iter().any(|login| login.grant.server == self.server.as_str());
        let account = match self.selector.choose_at(&logins, self.server.as_str()) {
            AccountChoice::Account(account) => account,
            AccountChoice::Ambiguous(accounts) => return Err(AuthorizeError::AmbiguousAccount { accounts }),
        };
        let authorizer = self.authorizer(&account);
        // Before the first login nothing is chosen: a login of another process may have any name.
        Ok(if is_here { self.chosen.get_or_init(|| authorizer).clone() } else { authorizer })
    }

    fn authorizer(&self, account: &str) -> OAuthAuthorizer {
        let options = self.options.clone().with_account(account);
        OAuthAuthorizer::new(self.http.clone(), self.server.clone(), options)
            .with_store(Arc::clone(&self.store))
    }
}

impl Authorizer for AccountAuthorizer {
    fn authorize<'a>(
        &'a self,
        target: RequestTarget<'a>,
    ) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        Box::pin(async move { self.choose().await?.authorize(target).await })
    }

    fn handle_unauthorized<'a>(
        &'a self,
        response: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(async move { self.choose().await?.handle_unauthorized(response).await })
    }

    fn observe_response(&self, target: RequestTarget<'_>, status: StatusCode, headers: &HeaderMap) {
        if let Some(chosen) = self.chosen.get() {
            chosen.observe_response(target, status, headers);
        }
    }
}

impl fmt::Debug for AccountAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountAuthorizer").field("server", &self.server).finish_non_exhaustive()
    }
}
