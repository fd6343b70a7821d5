//! The refresh transaction: at most one process presents a refresh token, and the answer is never lost to a race.
//!
//! 1. Take the lock of the grant, and read the grant again inside it: if it changed, adopt what is there.
//! 2. Mark the grant as possibly rotated: whoever finds the mark knows that a refresh was sent and no answer was stored.
//! 3. Send the refresh token.
//! 4. Store the answer, or what is known about the failure, if the generation is still the one that was read.
//!
//! Invariants: a grant is written or removed by generation only; an unknown outcome keeps everything; a rejected refresh
//! token marks the grant and keeps it, so that the reason can be shown.

use std::time::{Duration, SystemTime};

use crate::client_auth::OAuthClient;
use crate::dpop::DpopKey;
use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::form::Form;
use crate::metadata::ServerMetadata;
use crate::store::{Generation, Grant, GrantState, ServerAccount, StoredGrant, SwapOutcome, TokenStore};
use crate::token::{TokenEndpoint, TokenKind, TokenResponse};

/// How long a token of unknown state is left alone, so that a server that is slow can finish.
const UNKNOWN_BACKOFF: Duration = Duration::from_secs(5);

/// What a refresh needs.
pub(super) struct Refresher<'a> {
    pub(super) fetcher: &'a Fetcher,
    pub(super) store: &'a dyn TokenStore,
    pub(super) account: &'a ServerAccount,
    /// The configured client, if its key is not in the store.
    pub(super) client: Option<&'a OAuthClient>,
    pub(super) dpop: Option<&'a DpopKey>,
}

/// A grant to use after a refresh.
pub(super) enum RefreshOutcome {
    /// It was refreshed now.
    Refreshed(StoredGrant),
    /// Another process stored it; whether the server accepts it is not known here.
    Adopted(StoredGrant),
}

impl Refresher<'_> {
    /// Refreshes a grant, or adopts one that another process has refreshed meanwhile.
    ///
    /// # Errors
    /// [`AuthError::NeedsLogin`] when the grant cannot be refreshed any more; other errors keep the grant as it is.
    pub(super) async fn refresh(&self, seen: &StoredGrant) -> Result<RefreshOutcome, AuthError> {
        let _lock = self.store.lock(&seen.key).await?;
        let Some(current) = self.store.find(self.account).await? else { return Err(AuthError::NeedsLogin) };
        if current.grant.needs_login() {
            return Err(AuthError::NeedsLogin);
        }
        if is_newer(&current, seen) {
            return Ok(RefreshOutcome::Adopted(current));
        }
        if let GrantState::MaybeRotated { since } = current.grant.state {
            let waited = SystemTime::now().duration_since(since).unwrap_or_default();
            tokio::time::sleep(UNKNOWN_BACKOFF.saturating_sub(waited)).await;
        }
        self.send(current).await
    }

    /// Presents the refresh token. The lock is held.
    async fn send(&self, current: StoredGrant) -> Result<RefreshOutcome, AuthError> {
        let form = refresh_form(&current.grant).ok_or(AuthError::NeedsLogin)?;
        let mark = GrantState::MaybeRotated { since: SystemTime::now() };
        let marked = Grant { state: mark, ..current.grant.clone() };
        let generation = match self.write(&current, current.generation, marked).await? {
            Ok(generation) => generation,
            Err(winner) => return Ok(RefreshOutcome::Adopted(winner)),
        };
        let answer = self.request(&current, form).await;
        let next = match answer {
            Ok(response) => current.grant.refreshed(response, SystemTime::now()),
            Err(error) => return self.handle_failure(&current, generation, error).await,
        };
        match self.write(&current, generation, next.clone()).await? {
            Ok(generation) => Ok(RefreshOutcome::Refreshed(StoredGrant::new(current.key, generation, next))),
            Err(winner) => Ok(RefreshOutcome::Adopted(winner)),
        }
    }

    /// Decides what a failure means for the grant.
    async fn handle_failure(
        &self,
        current: &StoredGrant,
        generation: Generation,
        error: AuthError,
    ) -> Result<RefreshOutcome, AuthError> {
        let state = match &error {
            // The grant was revoked (the last code is GitHub's), or the server no longer knows the client that it was
            // issued to.
            AuthError::Endpoint { error, .. }
                if matches!(
                    error.code.as_str(),
                    "invalid_grant" | "invalid_client" | "unauthorized_client" | "bad_refresh_token"
                ) =>
            {
                GrantState::NeedsLogin { reason: error.to_string() }
            }
            // The server answered, so it did not rotate the token.
            AuthError::Endpoint { .. } => GrantState::Active,
            // Nothing was sent.
            AuthError::Http(unsent) if unsent.is_unsent() => GrantState::Active,
            AuthError::ForbiddenUrl { .. } | AuthError::NoEndpoint { .. } | AuthError::Key { .. } => {
                GrantState::Active
            }
            // A timeout, a broken connection or an unreadable answer: nobody knows.
            _ => return Err(error),
        };
        let needs_login = matches!(state, GrantState::NeedsLogin { .. });
        let next = Grant { state, ..current.grant.clone() };
        match self.write(current, generation, next).await? {
            Err(winner) => Ok(RefreshOutcome::Adopted(winner)),
            Ok(_) if needs_login => self.replacement().await.map(RefreshOutcome::Adopted),
            Ok(_) => Err(error),
        }
    }

    /// Returns the grant of a login with another client that was made meanwhile, after the old grant was rejected or removed.
    async fn replacement(&self) -> Result<StoredGrant, AuthError> {
        let found = self.store.find(self.account).await?;
        found.filter(|found| !found.grant.needs_login()).ok_or(AuthError::NeedsLogin)
    }

    /// Writes a grant if nobody else did; otherwise returns the grant of the winner.
    async fn write(
        &self,
        current: &StoredGrant,
        expected: Generation,
        grant: Grant,
    ) -> Result<Result<Generation, StoredGrant>, AuthError> {
        match self.store.compare_and_set(&current.key, Some(expected), Some(grant)).await? {
            SwapOutcome::Written(generation) => Ok(Ok(generation)),
            SwapOutcome::Conflict(Some(winner)) => Ok(Err(*winner)),
            // Logged out meanwhile, or replaced by a login with another client.
            SwapOutcome::Conflict(None) => self.replacement().await.map(Err),
        }
    }

    async fn request(&self, current: &StoredGrant, form: Form) -> Result<TokenResponse, AuthError> {
        let grant = &current.grant;
        let server = ServerMetadata {
            issuer: current.key.issuer.clone(),
            token_endpoint: Some(grant.token_endpoint.clone()),
            token_endpoint_auth_methods_supported: grant.auth_methods.clone(),
            ..ServerMetadata::default()
        };
        let stored = grant.client.to_client();
        let client = self.client.filter(|client| client.id == stored.id).unwrap_or(&stored);
        let is_dpop_required = grant.kind == TokenKind::Dpop;
        let endpoint = TokenEndpoint {
            fetcher: self.fetcher,
            server: &server,
            client,
            dpop: self.dpop,
            is_dpop_required,
        };
        endpoint.request(form).await
    }
}

/// Returns the form of a refresh; `None` without a refresh token.
fn refresh_form(grant: &Grant) -> Option<Form> {
    let mut form = Form::default();
    form.add("grant_type", "refresh_token");
    form.add("refresh_token", grant.refresh_token.as_ref()?.expose());
    form.add_optional("scope", Some(&grant.requested_scopes.to_string()));
    form.add_optional("resource", grant.resource_parameter.as_deref());
    Some(form)
}

/// Returns whether a grant holds other tokens than the one that was seen. A mark alone does not count.
fn is_newer(current: &StoredGrant, seen: &StoredGrant) -> bool {
    current.key != seen.key || current.grant.access_token != seen.grant.access_token
}
