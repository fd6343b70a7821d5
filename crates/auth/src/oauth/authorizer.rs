//! The authorizer of one MCP server: the interface of the OAuth client.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName};
use switchboard_http::{
    Address, AuthorizeError, Authorizer, BoxFuture, Challenge, Credentials, HttpClient, RequestTarget, Retry,
    UnauthorizedResponse,
};

use crate::device::DeviceChannel;
use crate::discovery::Discovery;
use crate::error::AuthError;
use crate::oauth::demand::TokenDemand;
use crate::oauth::login_channel::LoginChannel;
use crate::oauth::options::OAuthOptions;
use crate::oauth::renewal::{Refusal, run_renewal};
use crate::oauth::revoke::{Revocation, revoke};
use crate::oauth::state::{OAuthSettings, OAuthState};
use crate::store::{StoredGrant, TokenStore};
use crate::token::sensitive;

/// Authorizes the requests to one MCP server with OAuth. Clones share the tokens.
///
/// Without a [`LoginChannel`] it uses and refreshes stored tokens and reports `needs-login` otherwise, which is what a
/// service wants; with one it sends the user to the login page when the server asks for it.
///
/// ```
/// use switchboard::auth::{OAuthAuthorizer, OAuthOptions};
/// use switchboard::transport::http_client::{Address, HttpClient, HttpClientOptions, PlainHttp};
/// use switchboard::Http;
/// use std::sync::Arc;
///
/// let http = HttpClient::new(HttpClientOptions::from_environment())?;
/// let server = Address::parse("https://mcp.example.com/mcp", PlainHttp::LoopbackOnly)?;
/// let authorizer = OAuthAuthorizer::new(http, server, OAuthOptions::default());
/// let endpoint = Http::new("https://mcp.example.com/mcp").authorizer(Arc::new(authorizer));
/// # _ = endpoint;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct OAuthAuthorizer {
    shared: Arc<OAuthState>,
}

impl OAuthAuthorizer {
    /// Returns an authorizer that keeps tokens in memory and cannot ask a user to log in.
    pub fn new(http: HttpClient, server: Address, options: OAuthOptions) -> Self {
        Self { shared: Arc::new(OAuthState::new(OAuthSettings::new(http, server, options))) }
    }

    /// Keeps tokens in this store.
    #[must_use]
    pub fn with_store(self, store: Arc<dyn TokenStore>) -> Self {
        self.update(|settings| settings.store = store)
    }

    /// Asks the user to log in through this channel.
    #[must_use]
    pub fn with_login(self, channel: Arc<dyn LoginChannel>) -> Self {
        self.update(|settings| settings.channel = Some(channel))
    }

    /// Changes the settings. The authorizer starts anew with them: clones keep the former ones.
    fn update(self, change: impl FnOnce(&mut OAuthSettings)) -> Self {
        let mut settings = self.shared.settings.clone();
        change(&mut settings);
        Self { shared: Arc::new(OAuthState::new(settings)) }
    }

    /// Logs in now, whether or not there is a token: as a `login` command does.
    ///
    /// # Errors
    /// Why no token was obtained.
    ///
    /// # Cancellation
    /// Dropping the future abandons the login, unless other calls wait for it.
    pub async fn log_in(&self, challenges: &[Challenge]) -> Result<StoredGrant, AuthError> {
        let demand = TokenDemand::login(challenges);
        run_renewal(&self.shared, async move |shared, _| {
            shared.step_ups.lock().clear();
            // Not the failure of another login: the user wants this one.
            shared.obtain(&demand, None).await.map(|token| token.stored.clone())
        })
        .await
    }

    /// Logs in by device code (RFC 8628): the user confirms a code in a browser on any device. Needs no login channel.
    ///
    /// # Errors
    /// [`AuthError::DeviceUnsupported`] if the authorization server does not support it; otherwise why no token was obtained.
    ///
    /// # Cancellation
    /// Dropping the future ends the login; no token is stored then.
    pub async fn log_in_with_device(
        &self,
        challenges: &[Challenge],
        channel: Arc<dyn DeviceChannel>,
    ) -> Result<StoredGrant, AuthError> {
        let (shared, demand) = (&self.shared, TokenDemand::login(challenges));
        let _renewal = shared.renewal.lock().await;
        shared.step_ups.lock().clear();
        let (key, grant) = shared.obtainer().obtain_with_device(&demand, &*channel).await?;
        shared.store_grant(key, grant).await.map(|token| token.stored.clone())
    }
}

impl OAuthAuthorizer {
    /// Finds the authorization server of the MCP server, with every URL that was tried.
    ///
    /// # Errors
    /// Why it was not found.
    pub async fn discover(&self, challenges: &[Challenge]) -> Result<Discovery, AuthError> {
        self.shared.obtainer().discover(challenges).await
    }

    /// Logs out: revokes the tokens where the server supports it, and removes them from the store. Returns `None` if there
    /// were none.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn log_out(&self) -> Result<Option<Revocation>, AuthError> {
        let (shared, settings) = (&self.shared, &self.shared.settings);
        let _renewal = shared.renewal.lock().await;
        let mut revocation = None;
        // An account may have several grants, of earlier clients or issuers. A refresh of another process starts it over.
        while let Some(found) = settings.store.find(&settings.account).await? {
            let _lock = settings.store.lock(&found.key).await?;
            let Some(stored) = settings.store.find(&settings.account).await? else { break };
            if stored.key != found.key {
                continue;
            }
            let outcome = revoke(&settings.fetcher, &stored).await;
            settings.store.compare_and_set(&stored.key, Some(stored.generation), None).await?;
            revocation.get_or_insert(outcome);
        }
        shared.forget();
        Ok(revocation)
    }
}

impl Authorizer for OAuthAuthorizer {
    fn authorize<'a>(
        &'a self,
        target: RequestTarget<'a>,
    ) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        Box::pin(async move {
            let Some(token) = self.shared.token().await? else { return Ok(Credentials::none()) };
            let credentials = Credentials::none().with_header(AUTHORIZATION, token.authorization.clone());
            let Some(dpop) = &token.dpop else { return Ok(credentials) };
            let proof = dpop.proof(target.method, target.address, Some(&token.stored.grant.access_token))?;
            Ok(credentials.with_header(HeaderName::from_static("dpop"), sensitive(proof.expose())?))
        })
    }

    fn handle_unauthorized<'a>(
        &'a self,
        response: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(async move {
            // The nonce was taken from the response already.
            if response
                .challenges
                .iter()
                .any(|challenge| challenge.error.as_deref() == Some("use_dpop_nonce"))
            {
                return Ok(Retry::Again);
            }
            let refusal = Refusal {
                status: response.status,
                demand: TokenDemand::login(response.challenges),
                sent: response.sent.authorization().cloned(),
            };
            let renewal =
                run_renewal(&self.shared, async move |shared, arrival| shared.renew(&refusal, arrival).await);
            match renewal.await {
                // The challenge of the server says more than this error.
                Err(AuthError::NeedsLogin) => Ok(Retry::GiveUp),
                outcome => Ok(outcome?),
            }
        })
    }

    fn observe_response(&self, target: RequestTarget<'_>, status: StatusCode, headers: &HeaderMap) {
        let Some(current) = self.shared.current() else { return };
        if let Some(dpop) = &current.dpop {
            dpop.observe_nonce(target.address, headers);
        }
        if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            current.is_unproven.store(false, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for OAuthAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthAuthorizer")
            .field("account", &self.shared.settings.account)
            .finish_non_exhaustive()
    }
}
