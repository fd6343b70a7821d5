//! Renewal: decides which of adoption, refresh, login and step-up a request needs, one at a time.
//!
//! Invariants: a renewal runs in a task of its own, so a caller that is dropped never interrupts a refresh; a login ends when
//! all callers that waited for it are gone; concurrent callers share one renewal, also one that fails; a token that was refused right after a login is not followed by another login; before
//! anything is renewed, the store is asked for a token of another process.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::StatusCode;
use http::header::HeaderValue;
use switchboard_http::Retry;
use tokio::time::Instant;

use crate::error::AuthError;
use crate::oauth::current_token::CurrentToken;
use crate::oauth::demand::TokenDemand;
use crate::oauth::login_turns::Arrival;
use crate::oauth::refresh::{RefreshOutcome, Refresher};
use crate::oauth::revoke::end_replaced_grants;
use crate::oauth::state::OAuthState;
use crate::registration::Registration;
use crate::scope;
use crate::store::{Grant, GrantKey, StoredGrant, SwapOutcome};

/// How long after a failed refresh the next one is attempted.
const RETRY_PAUSE: Duration = Duration::from_secs(5);

/// A refused request, as the renewal sees it.
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) demand: TokenDemand,
    /// The token that was sent.
    pub(super) sent: Option<HeaderValue>,
}

/// Runs a renewal in a task of its own, which goes on if the caller is dropped. The renewal lock is held meanwhile.
pub(super) async fn run_renewal<T, F>(
    shared: &Arc<OAuthState>,
    renewal: impl FnOnce(Arc<OAuthState>, Arrival) -> F + Send + 'static,
) -> Result<T, AuthError>
where
    T: Send + 'static,
    F: Future<Output = Result<T, AuthError>> + Send,
{
    let (caller, shared) = (shared.logins.enter(), Arc::clone(shared));
    let arrival = caller.arrival;
    let task = tokio::spawn(async move {
        let _renewal = shared.renewal.lock().await;
        renewal(Arc::clone(&shared), arrival).await
    });
    match task.await {
        Ok(outcome) => outcome,
        Err(error) => Err(AuthError::LoginAborted(error.to_string())),
    }
}

impl OAuthState {
    /// Renews a token that is about to expire, unless another caller has done so.
    pub(super) async fn renew_due(
        self: &Arc<Self>,
        due: &Arc<CurrentToken>,
    ) -> Result<Arc<CurrentToken>, AuthError> {
        let due = Arc::clone(due);
        run_renewal(self, async move |shared, arrival| match shared.current() {
            Some(current) if current.authorization != due.authorization => Ok(current),
            _ if due.stored.grant.refresh_token.is_some() => shared.refresh(&due).await,
            _ => shared.obtain(&TokenDemand::renewal(&due.stored.grant, &[]), Some(arrival)).await,
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
        let client = match &self.settings.options.registration {
            Registration::Preset(client) => Some(client),
            Registration::Automatic { .. } => None,
        };
        let refresher = Refresher {
            fetcher: &self.settings.fetcher,
            store: &*self.settings.store,
            account: &self.settings.account,
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
        let found = self.settings.store.find(&self.settings.account).await?;
        Ok(found.filter(|found| {
            !found.grant.needs_login() && found.grant.access_token != token.stored.grant.access_token
        }))
    }

    /// Obtains a new grant and stores it, or fails like a login that failed since the arrival of the caller. The renewal lock
    /// is held.
    pub(super) async fn obtain(
        &self,
        demand: &TokenDemand,
        arrival: Option<Arrival>,
    ) -> Result<Arc<CurrentToken>, AuthError> {
        if let Some(failure) = arrival.and_then(|arrival| self.logins.failure_since(arrival)) {
            return Err(failure);
        }
        let obtainer = self.obtainer();
        let obtaining = async {
            let (key, grant) = obtainer.obtain(demand).await?;
            self.store_grant(key, grant).await
        };
        // Without a user the token may be renewed ahead, for requests to come.
        let outcome = match self.settings.options.grant.is_without_user() {
            true => obtaining.await,
            false => tokio::select! {
                biased;
                () = self.logins.wait_until_abandoned() => {
                    return Err(AuthError::LoginAborted("the calls that needed it were cancelled".to_owned()));
                }
                outcome = obtaining => outcome,
            },
        };
        self.logins.finish(outcome.as_ref().err().cloned());
        outcome
    }

    /// Stores a new grant and uses it. The renewal lock is held.
    pub(super) async fn store_grant(
        &self,
        key: GrantKey,
        grant: Grant,
    ) -> Result<Arc<CurrentToken>, AuthError> {
        let mut expected = None;
        loop {
            // A login replaces whatever there is.
            match self.settings.store.compare_and_set(&key, expected, Some(grant.clone())).await? {
                SwapOutcome::Written(generation) => {
                    let stored = StoredGrant::new(key, generation, grant);
                    end_replaced_grants(&self.settings, &stored.key).await;
                    return self.set_current(stored, true);
                }
                SwapOutcome::Conflict(found) => expected = found.map(|found| found.generation),
            }
        }
    }

    /// Handles a refused request: adopts a newer token, refreshes, or logs in.
    pub(super) async fn renew(&self, refusal: &Refusal, arrival: Arrival) -> Result<Retry, AuthError> {
        if self.adopt_newer(refusal).await? {
            return Ok(Retry::Again);
        }
        let Some(current) = self.current().filter(|_| refusal.sent.is_some()) else {
            return self.obtain(&refusal.demand, Some(arrival)).await.map(|_| Retry::Again);
        };
        if refusal.status == StatusCode::FORBIDDEN {
            return self.step_up(&current, refusal, arrival).await;
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
        let demand = match self.settings.options.grant.is_without_user() {
            true => TokenDemand::renewal(&current.stored.grant, &refusal.demand.challenges),
            false => refusal.demand.clone(),
        };
        self.obtain(&demand, Some(arrival)).await.map(|_| Retry::Again)
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
    async fn step_up(
        &self,
        current: &CurrentToken,
        refusal: &Refusal,
        arrival: Arrival,
    ) -> Result<Retry, AuthError> {
        let requested = &current.stored.grant.requested_scopes;
        let challenged = scope::challenged_scopes(&refusal.demand.challenges).unwrap_or_default();
        let is_useless = requested.contains_all(&challenged) && current.is_unproven.load(Ordering::Relaxed);
        let can_ask = self.settings.channel.is_some() || self.settings.options.grant.is_without_user();
        if is_useless || !can_ask || !self.step_ups.lock().admit(&challenged) {
            return Ok(Retry::GiveUp);
        }
        let demand = TokenDemand::step_up(&current.stored.grant, &refusal.demand.challenges);
        self.obtain(&demand, Some(arrival)).await.map(|_| Retry::Again)
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
