//! The authorizers of configured servers: stored tokens of the account that the user means.

use std::fmt;
use std::sync::{Arc, OnceLock};

use http::StatusCode;
use http::header::HeaderMap;
use switchboard_auth::{AuthError, CallbackPort, OAuthAuthorizer, OAuthOptions, TokenStore};
use switchboard_http::{
    Address, AuthorizeError, Authorizer, BoxFuture, Credentials, HttpClient, RequestTarget, Retry,
    UnauthorizedResponse,
};

use crate::login::accounts::{AccountChoice, AccountSelector};

/// Sends the stored tokens of one server.
///
/// The account is chosen at the first request that has one to choose; later requests use the same. Where a login is needed, it
/// finds out whether a client has to be registered by hand first.
pub(super) struct StoredLoginAuthorizer {
    pub(super) http: HttpClient,
    pub(super) server: Address,
    /// The settings of the login; their account does not count.
    pub(super) options: OAuthOptions,
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) selector: AccountSelector,
    /// The port of logins, if no client is configured.
    pub(super) registers_at: Option<CallbackPort>,
    pub(super) chosen: OnceLock<OAuthAuthorizer>,
}

impl StoredLoginAuthorizer {
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

    /// Returns why a login would fail: the authorization server registers no clients.
    async fn missing_client(
        &self,
        oauth: &OAuthAuthorizer,
        response: &UnauthorizedResponse<'_>,
    ) -> Option<AuthorizeError> {
        let port = self.registers_at?;
        if response.status != StatusCode::UNAUTHORIZED || response.sent.authorization().is_some() {
            return None;
        }
        // If discovery fails, the challenge of the server says more.
        let server = oauth.discover(response.challenges).await.ok()?.server;
        server.registration_endpoint.is_none().then(|| AuthorizeError::NeedsClientRegistration {
            issuer: server.issuer,
            redirect_uri: Some(port.redirect_uri(self.server.as_str())),
        })
    }
}

impl Authorizer for StoredLoginAuthorizer {
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
        Box::pin(async move {
            let oauth = self.choose().await?;
            match oauth.handle_unauthorized(response).await? {
                Retry::Again => {
                    // A grant without a user has just stored its first token.
                    _ = self.chosen.set(oauth);
                    Ok(Retry::Again)
                }
                Retry::GiveUp => self.missing_client(&oauth, &response).await.map_or(Ok(Retry::GiveUp), Err),
            }
        })
    }

    fn observe_response(&self, target: RequestTarget<'_>, status: StatusCode, headers: &HeaderMap) {
        if let Some(chosen) = self.chosen.get() {
            chosen.observe_response(target, status, headers);
        }
    }
}

impl fmt::Debug for StoredLoginAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredLoginAuthorizer").field("server", &self.server).finish_non_exhaustive()
    }
}

/// Sends nothing: the configuration of the login cannot be used.
#[derive(Debug)]
pub(super) struct UnusableLogin(pub(super) AuthError);

impl Authorizer for UnusableLogin {
    fn authorize<'a>(&'a self, _: RequestTarget<'a>) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        Box::pin(std::future::ready(Err(self.0.clone().into())))
    }

    fn handle_unauthorized<'a>(
        &'a self,
        _: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(std::future::ready(Ok(Retry::GiveUp)))
    }
}
