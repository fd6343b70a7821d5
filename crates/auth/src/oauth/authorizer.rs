//! The authorizer of one MCP server: decides which of login, refresh and step-up a request needs, one at a time.
//!
//! Invariants: a renewal runs in a task of its own, so a caller that is dropped never interrupts it; concurrent callers share
//! one renewal, also one that fails; a token that is still good is sent if its renewal fails or takes long; a token that was
//! refused right after a login is not followed by another login; before anything is renewed or reported as missing, the
//! store is asked for a token of another process.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use parking_lot::{Mutex, RwLock};
use switchboard_http::{
    Address, AuthorizeError, Authorizer, BoxFuture, Challenge, Credentials, HttpClient, RequestTarget, Retry,
    UnauthorizedResponse,
};
use tokio::time::Instant;
use zeroize::Zeroizing;

use crate::device::DeviceChannel;
use crate::discovery::Discovery;
use crate::dpop::DpopKey;
use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::oauth::login_channel::LoginChannel;
use crate::oauth::obtain::{Obtainer, TokenDemand};
use crate::oauth::options::{GrantMethod, OAuthOptions};
use crate::oauth::refresh::{RefreshOutcome, Refresher};
use crate::oauth::revoke::{Revocation, revoke};
use crate::registration::Registration;
use crate::scope;
use crate::store::{Grant, GrantKey, MemoryStore, ServerAccount, StoredGrant, SwapOutcome, TokenStore};
use crate::token::{TokenKind, sensitive};

/// The most step-ups in a row without an accepted request.
const MAX_STEP_UPS: u32 = 2;
/// How long after a failed refresh the next one is attempted.
const RETRY_PAUSE: Duration = Duration::from_secs(5);
/// How long a request waits for a renewal while its token is still good.
const RENEWAL_PATIENCE: Duration = Duration::from_secs(5);
/// How long a token counts as just issued if no request has been accepted with it.
const TRIAL_PERIOD: Duration = Duration::from_secs(60);

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

struct OAuthState {
    server: Address,
    account: ServerAccount,
    options: OAuthOptions,
    fetcher: Fetcher,
    store: Arc<dyn TokenStore>,
    channel: Option<Arc<dyn LoginChannel>>,
    /// The token in use. Held for a clone of the pointer, never across an await.
    current: RwLock<Option<Arc<CurrentToken>>>,
    /// Held during a renewal.
    renewal: tokio::sync::Mutex<()>,
    /// The last refresh that failed, and when. Held for a clone, never across an await.
    failure: Mutex<Option<(Instant, AuthError)>>,
    /// Step-ups since a request was accepted.
    step_ups: AtomicU32,
}

/// The token in use.
struct CurrentToken {
    stored: StoredGrant,
    authorization: HeaderValue,
    dpop: Option<Arc<DpopKey>>,
    /// Whether it was issued during this process and no request has been accepted with it yet.
    is_unproven: AtomicBool,
}

/// A refused request, as the renewal sees it.
struct Refusal {
    status: StatusCode,
    demand: TokenDemand,
    /// The token that was sent.
    sent: Option<HeaderValue>,
}

impl OAuthAuthorizer {
    /// Returns an authorizer that keeps tokens in memory and cannot ask a user to log in.
    pub fn new(http: HttpClient, server: Address, options: OAuthOptions) -> Self {
        let account = ServerAccount::new(server.as_str(), &options.account);
        let fetcher = Fetcher::new(http, &server)
            .trusting(options.server_metadata_url.as_deref())
            .trusting(options.issuer.as_deref());
        Self {
            shared: Arc::new(OAuthState {
                server,
                account,
                options,
                fetcher,
                store: Arc::new(MemoryStore::new()),
                channel: None,
                current: RwLock::default(),
                renewal: tokio::sync::Mutex::default(),
                failure: Mutex::default(),
                step_ups: AtomicU32::new(0),
            }),
        }
    }

    /// Keeps tokens in this store.
    #[must_use]
    pub fn with_store(self, store: Arc<dyn TokenStore>) -> Self {
        self.update(|shared| shared.store = store)
    }

    /// Asks the user to log in through this channel.
    #[must_use]
    pub fn with_login(self, channel: Arc<dyn LoginChannel>) -> Self {
        self.update(|shared| shared.channel = Some(channel))
    }

    /// Changes the settings. An authorizer that has been cloned and used starts anew with the same settings.
    fn update(self, change: impl FnOnce(&mut OAuthState)) -> Self {
        let mut shared = Arc::try_unwrap(self.shared).unwrap_or_else(|shared| OAuthState {
            server: shared.server.clone(),
            account: shared.account.clone(),
            options: shared.options.clone(),
            fetcher: shared.fetcher.clone(),
            store: Arc::clone(&shared.store),
            channel: shared.channel.clone(),
            current: RwLock::default(),
            renewal: tokio::sync::Mutex::default(),
            failure: Mutex::default(),
            step_ups: AtomicU32::new(0),
        });
        change(&mut shared);
        Self { shared: Arc::new(shared) }
    }

    /// Logs in now, whether or not there is a token: as a `login` command does.
    ///
    /// # Errors
    /// Why no token was obtained.
    pub async fn log_in(&self, challenges: &[Challenge]) -> Result<StoredGrant, AuthError> {
        let demand = TokenDemand { challenges: challenges.to_vec(), previous_scopes: None };
        let shared = Arc::clone(&self.shared);
        run_owned(async move {
            let _renewal = shared.renewal.lock().await;
            shared.obtain(&demand).await.map(|token| token.stored.clone())
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
        let demand = TokenDemand { challenges: challenges.to_vec(), previous_scopes: None };
        let _renewal = self.shared.renewal.lock().await;
        let (key, grant) = self.shared.obtainer().obtain_with_device(&demand, &*channel).await?;
        self.shared.store_grant(key, grant).await.map(|token| token.stored.clone())
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
        let shared = &self.shared;
        let _renewal = shared.renewal.lock().await;
        let mut revocation = None;
        // An account may have several grants, of earlier clients or issuers. A refresh of another process starts it over.
        while let Some(found) = shared.store.find(&shared.account).await? {
            let _lock = shared.store.lock(&found.key).await?;
            let Some(stored) = shared.store.find(&shared.account).await? else { break };
            if stored.key != found.key {
                continue;
            }
            let outcome = revoke(&shared.fetcher, &stored).await;
            shared.store.compare_and_set(&stored.key, Some(stored.generation), None).await?;
            revocation.get_or_insert(outcome);
        }
        *shared.current.write() = None;
        Ok(revocation)
    }
}

/// Runs a future in a task of its own, which goes on if the caller is dropped.
async fn run_owned<T: Send + 'static>(
    work: impl Future<Output = Result<T, AuthError>> + Send + 'static,
) -> Result<T, AuthError> {
    match tokio::spawn(work).await {
        Ok(outcome) => outcome,
        Err(error) => Err(AuthError::LoginAborted(error.to_string())),
    }
}

impl OAuthState {
    fn obtainer(&self) -> Obtainer<'_> {
        Obtainer {
            server: &self.server,
            account: &self.account,
            options: &self.options,
            fetcher: &self.fetcher,
            store: &*self.store,
            channel: self.channel.as_deref(),
        }
    }

    fn current(&self) -> Option<Arc<CurrentToken>> {
        self.current.read().clone()
    }

    fn set_current(&self, stored: StoredGrant, is_unproven: bool) -> Result<Arc<CurrentToken>, AuthError> {
        let dpop = match (&stored.grant.dpop_key, self.current()) {
            // The same key keeps its nonces.
            (Some(key), Some(current)) if current.stored.grant.dpop_key.as_ref() == Some(key) => {
                current.dpop.clone()
            }
            (Some(key), _) => {
                let pkcs8 = Zeroizing::new(STANDARD.decode(key.expose()).unwrap_or_default());
                Some(Arc::new(DpopKey::from_pkcs8(&pkcs8)?))
            }
            (None, _) => None,
        };
        let scheme = match stored.grant.kind {
            TokenKind::Bearer => "Bearer",
            TokenKind::Dpop => "DPoP",
        };
        let text = Zeroizing::new(format!("{scheme} {}", stored.grant.access_token.expose()));
        let token = Arc::new(CurrentToken {
            authorization: sensitive(&text)?,
            stored,
            dpop,
            is_unproven: AtomicBool::new(is_unproven),
        });
        *self.current.write() = Some(Arc::clone(&token));
        *self.failure.lock() = None;
        Ok(token)
    }

    /// Returns the token to send, refreshed if it is due; `None` before the first login.
    async fn token(self: &Arc<Self>) -> Result<Option<Arc<CurrentToken>>, AuthError> {
        let current = match self.current() {
            Some(current) => current,
            None => match self.load().await? {
                Some(loaded) => loaded,
                None => return Ok(None),
            },
        };
        let now = SystemTime::now();
        let can_refresh =
            current.stored.grant.refresh_token.is_some() || self.options.grant.is_without_user();
        if !current.stored.grant.is_due(now) || !can_refresh {
            return Ok(Some(current));
        }
        let is_expired = current.stored.grant.is_expired(now);
        let renewal = self.renew_due(&current);
        let renewal = match is_expired {
            true => renewal.await,
            // The renewal goes on by itself.
            false => match tokio::time::timeout(RENEWAL_PATIENCE, renewal).await {
                Ok(outcome) => outcome,
                Err(_) => return Ok(Some(current)),
            },
        };
        match renewal {
            Ok(renewed) => Ok(Some(renewed)),
            // The old token is good for a while; the next request tries again.
            Err(error) if !is_expired => {
                tracing::warn!(server = ?self.server, %error, "token refresh failed");
                Ok(Some(current))
            }
            // The server decides, and its challenge says how to go on.
            Err(AuthError::NeedsLogin) => Ok(Some(current)),
            Err(error) => Err(error),
        }
    }

    /// Loads the stored token.
    async fn load(&self) -> Result<Option<Arc<CurrentToken>>, AuthError> {
        match self.store.find(&self.account).await? {
            Some(stored) if !stored.grant.needs_login() => self.set_current(stored, false).map(Some),
            _ => Ok(None),
        }
    }

    /// Renews a token that is about to expire, unless another caller has done so.
    async fn renew_due(self: &Arc<Self>, due: &Arc<CurrentToken>) -> Result<Arc<CurrentToken>, AuthError> {
        let (shared, due) = (Arc::clone(self), Arc::clone(due));
        run_owned(async move {
            let _renewal = shared.renewal.lock().await;
            match shared.current() {
                Some(current) if current.authorization != due.authorization => Ok(current),
                _ if due.stored.grant.refresh_token.is_some() => shared.refresh(&due).await,
                _ => {
                    let previous_scopes = Some(due.stored.grant.requested_scopes.clone());
                    shared.obtain(&TokenDemand { challenges: Vec::new(), previous_scopes }).await
                }
            }
        })
        .await
    }

    /// Refreshes a token, or fails like the last refresh if that was a moment ago. The renewal lock is held.
    async fn refresh(&self, current: &CurrentToken) -> Result<Arc<CurrentToken>, AuthError> {
        if let Some(error) = self.recent_failure() {
            // Another process may have succeeded.
            let other = self.find_other(current).await?;
            return other.map_or(Err(error), |other| self.set_current(other, false));
        }
        let client = match &self.options.registration {
            Registration::Preset(client) => Some(client),
            Registration::Automatic { .. } => None,
        };
        let refresher = Refresher {
            fetcher: &self.fetcher,
            store: &*self.store,
            account: &self.account,
            client,
            dpop: current.dpop.as_deref(),
        };
        match refresher.refresh(&current.stored).await {
            Ok(RefreshOutcome::Refreshed(grant)) => self.set_current(grant, true),
            Ok(RefreshOutcome::Adopted(grant)) => self.set_current(grant, false),
            Err(AuthError::NeedsLogin) => Err(AuthError::NeedsLogin),
            Err(error) => {
                *self.failure.lock() = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// Returns the error of a refresh that failed a moment ago: callers that waited for it share its outcome.
    fn recent_failure(&self) -> Option<AuthError> {
        let failure = self.failure.lock();
        failure.as_ref().filter(|(at, _)| at.elapsed() < RETRY_PAUSE).map(|(_, error)| error.clone())
    }

    /// Returns a usable grant in the store with another token than this one.
    async fn find_other(&self, token: &CurrentToken) -> Result<Option<StoredGrant>, AuthError> {
        let found = self.store.find(&self.account).await?;
        Ok(found.filter(|found| {
            !found.grant.needs_login() && found.grant.access_token != token.stored.grant.access_token
        }))
    }

    /// Obtains a new grant and stores it. The renewal lock is held.
    async fn obtain(&self, demand: &TokenDemand) -> Result<Arc<CurrentToken>, AuthError> {
        let (key, grant) = self.obtainer().obtain(demand).await?;
        self.store_grant(key, grant).await
    }

    /// Stores a new grant and uses it. The renewal lock is held.
    async fn store_grant(&self, key: GrantKey, grant: Grant) -> Result<Arc<CurrentToken>, AuthError> {
        let mut expected = None;
        loop {
            // A login replaces whatever there is.
            match self.store.compare_and_set(&key, expected, Some(grant.clone())).await? {
                SwapOutcome::Written(generation) => {
                    return self.set_current(StoredGrant::new(key, generation, grant), true);
                }
                SwapOutcome::Conflict(found) => expected = found.map(|found| found.generation),
            }
        }
    }

    /// Handles a refused request: adopts a newer token, refreshes, or logs in.
    async fn renew(&self, refusal: &Refusal) -> Result<Retry, AuthError> {
        let _renewal = self.renewal.lock().await;
        if self.adopt_newer(refusal).await? {
            return Ok(Retry::Again);
        }
        let Some(current) = self.current().filter(|_| refusal.sent.is_some()) else {
            return self.obtain(&refusal.demand).await.map(|_| Retry::Again);
        };
        if refusal.status == StatusCode::FORBIDDEN {
            return self.step_up(&current, refusal).await;
        }
        let issuer_changed = self.issuer_changed(&current, refusal).await?;
        let can_refresh = current.stored.grant.refresh_token.is_some() && !issuer_changed;
        let is_just_issued = current.is_just_issued();
        if can_refresh && !is_just_issued {
            match self.refresh(&current).await {
                Err(AuthError::NeedsLogin) => {}
                outcome => return outcome.map(|_| Retry::Again),
            }
        } else if is_just_issued && !issuer_changed {
            // The server refuses the token that its own authorization server has just issued.
            return Ok(Retry::GiveUp);
        }
        self.obtain(&refusal.demand).await.map(|_| Retry::Again)
    }

    /// Takes over a token that is not the one that was refused: renewed by another request, or stored by another process.
    async fn adopt_newer(&self, refusal: &Refusal) -> Result<bool, AuthError> {
        let is_other = |token: &CurrentToken| refusal.sent.as_ref() != Some(&token.authorization);
        if self.current().is_some_and(|current| is_other(&current)) {
            return Ok(true);
        }
        match self.current() {
            Some(refused) => match self.find_other(&refused).await? {
                Some(other) => self.set_current(other, false).map(|_| true),
                None => Ok(false),
            },
            None => Ok(self.load().await?.is_some()),
        }
    }

    /// Asks for more scopes, a few times at most.
    async fn step_up(&self, current: &CurrentToken, refusal: &Refusal) -> Result<Retry, AuthError> {
        let requested = &current.stored.grant.requested_scopes;
        let challenged = scope::challenged_scopes(&refusal.demand.challenges).unwrap_or_default();
        let is_useless = requested.contains_all(&challenged) && current.is_unproven.load(Ordering::Relaxed);
        let can_ask = self.channel.is_some() || self.options.grant.is_without_user();
        if is_useless || !can_ask || self.step_ups.fetch_add(1, Ordering::Relaxed) >= MAX_STEP_UPS {
            return Ok(Retry::GiveUp);
        }
        let demand = TokenDemand { previous_scopes: Some(requested.clone()), ..refusal.demand.clone() };
        self.obtain(&demand).await.map(|_| Retry::Again)
    }

    /// Returns whether the server names another issuer now than that of the token.
    async fn issuer_changed(&self, current: &CurrentToken, refusal: &Refusal) -> Result<bool, AuthError> {
        match self.obtainer().discover(&refusal.demand.challenges).await {
            // Only metadata of the resource can name another issuer: an outage of the metadata is not a move.
            Ok(discovery) if discovery.resource_metadata.is_none() => Ok(false),
            Ok(discovery) => Ok(discovery.server.issuer != current.stored.key.issuer),
            Err(error) if error.is_transient() => Err(error),
            // The refresh needs no metadata.
            Err(_) => Ok(false),
        }
    }
}

impl CurrentToken {
    /// Returns whether it was issued to this process a moment ago and no request has been accepted with it.
    fn is_just_issued(&self) -> bool {
        let age = SystemTime::now().duration_since(self.stored.grant.obtained_at).unwrap_or_default();
        self.is_unproven.load(Ordering::Relaxed) && age < TRIAL_PERIOD
    }
}

impl GrantMethod {
    fn is_without_user(&self) -> bool {
        !matches!(self, Self::AuthorizationCode)
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
            let shared = Arc::clone(&self.shared);
            let refusal = Refusal {
                status: response.status,
                demand: TokenDemand { challenges: response.challenges.to_vec(), previous_scopes: None },
                sent: response.sent.authorization().cloned(),
            };
            match run_owned(async move { shared.renew(&refusal).await }).await {
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
            self.shared.step_ups.store(0, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for OAuthAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthAuthorizer").field("account", &self.shared.account).finish_non_exhaustive()
    }
}
