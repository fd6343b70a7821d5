//! The state that the clones of an authorizer share: settings, the token in use, and what renewals have to know of each other.
//!
//! Invariants: a token that is still good is sent if its renewal fails or takes long; before a token is reported as missing,
//! the store is asked for one of another process.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::{Mutex, RwLock};
use switchboard_http::{Address, HttpClient};
use tokio::time::Instant;

use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::oauth::current_token::CurrentToken;
use crate::oauth::login_channel::LoginChannel;
use crate::oauth::login_turns::LoginTurns;
use crate::oauth::obtain::Obtainer;
use crate::oauth::options::OAuthOptions;
use crate::oauth::step_up_log::StepUpLog;
use crate::store::{MemoryStore, ServerAccount, StoredGrant, TokenStore};

/// How long a request waits for a renewal while its token is still good.
const RENEWAL_PATIENCE: Duration = Duration::from_secs(5);

/// The settings of an authorizer.
#[derive(Clone)]
pub(super) struct OAuthSettings {
    pub(super) server: Address,
    pub(super) account: ServerAccount,
    pub(super) options: OAuthOptions,
    pub(super) fetcher: Fetcher,
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) channel: Option<Arc<dyn LoginChannel>>,
}

/// The state of an authorizer.
pub(super) struct OAuthState {
    pub(super) settings: OAuthSettings,
    /// The token in use. Held for a clone of the pointer, never across an await.
    current: RwLock<Option<Arc<CurrentToken>>>,
    /// Held during a renewal.
    pub(super) renewal: tokio::sync::Mutex<()>,
    /// The last refresh that failed, and when. Held for a clone, never across an await.
    pub(super) failure: Mutex<Option<(Instant, AuthError)>>,
    /// Held for an insertion, never across an await.
    pub(super) step_ups: Mutex<StepUpLog>,
    pub(super) logins: LoginTurns,
}

impl OAuthSettings {
    pub(super) fn new(http: HttpClient, server: Address, options: OAuthOptions) -> Self {
        Self {
            account: ServerAccount::new(server.as_str(), &options.account),
            fetcher: Fetcher::new(http, &server)
                .trusting(options.server_metadata_url.as_deref())
                .trusting(options.issuer.as_deref()),
            store: Arc::new(MemoryStore::new()),
            channel: None,
            server,
            options,
        }
    }
}

impl OAuthState {
    pub(super) fn new(settings: OAuthSettings) -> Self {
        Self {
            settings,
            current: RwLock::default(),
            renewal: tokio::sync::Mutex::default(),
            failure: Mutex::default(),
            step_ups: Mutex::default(),
            logins: LoginTurns::default(),
        }
    }

    pub(super) fn obtainer(&self) -> Obtainer<'_> {
        let OAuthSettings { server, account, options, fetcher, store, channel } = &self.settings;
        Obtainer { server, account, options, fetcher, store: &**store, channel: channel.as_deref() }
    }

    pub(super) fn current(&self) -> Option<Arc<CurrentToken>> {
        self.current.read().clone()
    }

    pub(super) fn set_current(
        &self,
        stored: StoredGrant,
        is_unproven: bool,
    ) -> Result<Arc<CurrentToken>, AuthError> {
        let token = Arc::new(CurrentToken::new(stored, is_unproven, self.current().as_deref())?);
        *self.current.write() = Some(Arc::clone(&token));
        *self.failure.lock() = None;
        Ok(token)
    }

    /// Forgets the token in use.
    pub(super) fn forget(&self) {
        *self.current.write() = None;
    }

    /// Returns the token to send, refreshed if it is due; `None` before the first login.
    pub(super) async fn token(self: &Arc<Self>) -> Result<Option<Arc<CurrentToken>>, AuthError> {
        let current = match self.current() {
            Some(current) => current,
            None => match self.load().await? {
                Some(loaded) => loaded,
                None => return Ok(None),
            },
        };
        let now = SystemTime::now();
        let can_refresh =
            current.stored.grant.refresh_token.is_some() || self.settings.options.grant.is_without_user();
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
                tracing::warn!(server = ?self.settings.server, %error, "token refresh failed");
                Ok(Some(current))
            }
            // The server decides, and its challenge says how to go on.
            Err(AuthError::NeedsLogin) => Ok(Some(current)),
            Err(error) => Err(error),
        }
    }

    /// Loads the stored token.
    pub(super) async fn load(&self) -> Result<Option<Arc<CurrentToken>>, AuthError> {
        match self.settings.store.find(&self.settings.account).await? {
            Some(stored) if !stored.grant.needs_login() => self.set_current(stored, false).map(Some),
            _ => Ok(None),
        }
    }
}
