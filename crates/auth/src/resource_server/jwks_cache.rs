//! Cache of the keys of an issuer.
//!
//! Invariants: one fetch at a time, in a task of its own, so that a client that closes its connection does not cancel it; while
//! keys are stale, one request refreshes them and the others use them; if the issuer
//! cannot be reached, stale keys are used for [`MAX_STALE`]; a token with an unknown key causes a fetch at most once per
//! [`MISS_INTERVAL`], so nobody can make this server flood the issuer.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_http::VerifyError;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

use crate::jws::JwkSet;
use crate::resource_server::jwks_source::{FetchedKeys, JwksSource};

/// How long keys are used after they ceased to be fresh.
const MAX_STALE: Duration = Duration::from_secs(24 * 3600);
/// How long to wait after a failed fetch.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);
/// The least time between two fetches because of unknown keys.
const MISS_INTERVAL: Duration = Duration::from_secs(30);

/// The keys of one issuer.
#[derive(Debug)]
pub(crate) struct JwksCache {
    keys: Arc<IssuerKeys>,
    /// Held while keys are fetched.
    fetching: Arc<tokio::sync::Mutex<()>>,
}

/// The part of the cache that a fetch works on.
#[derive(Debug)]
struct IssuerKeys {
    source: JwksSource,
    // Held for a few assignments, never across an await.
    state: Mutex<CacheState>,
}

#[derive(Debug, Default)]
struct CacheState {
    cached: Option<CachedKeys>,
    /// No fetch before this time, because one failed.
    retry_at: Option<Instant>,
    /// When a token with an unknown key last caused a fetch.
    last_miss: Option<Instant>,
}

#[derive(Debug, Clone)]
struct CachedKeys {
    keys: Arc<JwkSet>,
    fresh_until: Instant,
}

/// The age of the cached keys.
enum Lookup {
    Fresh(Arc<JwkSet>),
    /// They are to be refreshed, and can be used meanwhile.
    Stale(Arc<JwkSet>),
    Missing,
    /// There are no keys, and the issuer could not be reached a moment ago.
    Failed,
}

impl JwksCache {
    /// Returns an empty cache.
    pub(crate) fn new(source: JwksSource) -> Self {
        Self { keys: Arc::new(IssuerKeys { source, state: Mutex::default() }), fetching: Arc::default() }
    }

    /// Returns the keys.
    ///
    /// # Errors
    /// [`VerifyError::Unavailable`] when there are no keys and they cannot be fetched.
    pub(crate) async fn keys(&self) -> Result<Arc<JwkSet>, VerifyError> {
        match self.lookup() {
            Lookup::Fresh(keys) => return Ok(keys),
            Lookup::Stale(keys) => return Ok(self.refresh(keys).await),
            Lookup::Failed => return Err(no_keys()),
            Lookup::Missing => {}
        }
        let fetching = Arc::clone(&self.fetching).lock_owned().await;
        // Another request may have fetched them, or tried to, in the meantime.
        match self.lookup() {
            Lookup::Fresh(keys) | Lookup::Stale(keys) => Ok(keys),
            Lookup::Failed => Err(no_keys()),
            Lookup::Missing => self.fetch(fetching).await.ok_or_else(no_keys),
        }
    }

    /// Returns newer keys for a token whose key is not among these; `None` if the issuer has published no others.
    pub(crate) async fn keys_after_miss(&self, known: &Arc<JwkSet>) -> Option<Arc<JwkSet>> {
        if let Some(newer) = self.newer_than(known) {
            return Some(newer);
        }
        let may_fetch = || {
            let last = self.keys.state.lock().last_miss;
            last.is_none_or(|last| last.elapsed() >= MISS_INTERVAL)
        };
        // A fetch that another token caused is under way, or was a moment ago.
        if !may_fetch() && self.fetching.try_lock().is_ok() {
            return None;
        }
        let fetching = Arc::clone(&self.fetching).lock_owned().await;
        if let Some(newer) = self.newer_than(known) {
            return Some(newer);
        }
        if !may_fetch() {
            return None;
        }
        self.keys.state.lock().last_miss = Some(Instant::now());
        self.fetch(fetching).await
    }

    /// Refreshes stale keys, unless another request does so.
    async fn refresh(&self, stale: Arc<JwkSet>) -> Arc<JwkSet> {
        let Ok(fetching) = Arc::clone(&self.fetching).try_lock_owned() else { return stale };
        // Already now: if this request is dropped, the next ones do not wait for a slow issuer, too.
        self.keys.state.lock().retry_at = Some(Instant::now() + RETRY_INTERVAL);
        self.fetch(fetching).await.unwrap_or(stale)
    }

    /// Fetches the keys in a task of its own, which holds the lock.
    async fn fetch(&self, fetching: OwnedMutexGuard<()>) -> Option<Arc<JwkSet>> {
        let keys = Arc::clone(&self.keys);
        let fetch = tokio::spawn(async move {
            let _fetching = fetching;
            keys.fetch().await
        });
        fetch.await.ok().flatten()
    }

    fn lookup(&self) -> Lookup {
        let now = Instant::now();
        let state = self.keys.state.lock();
        let may_fetch = state.retry_at.is_none_or(|retry_at| now >= retry_at);
        match &state.cached {
            Some(cached) if now < cached.fresh_until => Lookup::Fresh(Arc::clone(&cached.keys)),
            Some(cached) if now < cached.fresh_until + MAX_STALE => match may_fetch {
                true => Lookup::Stale(Arc::clone(&cached.keys)),
                false => Lookup::Fresh(Arc::clone(&cached.keys)),
            },
            _ if may_fetch => Lookup::Missing,
            _ => Lookup::Failed,
        }
    }

    fn newer_than(&self, known: &Arc<JwkSet>) -> Option<Arc<JwkSet>> {
        let state = self.keys.state.lock();
        let cached = state.cached.as_ref()?;
        (!Arc::ptr_eq(&cached.keys, known)).then(|| Arc::clone(&cached.keys))
    }
}

impl IssuerKeys {
    /// Fetches the keys and stores them.
    async fn fetch(&self) -> Option<Arc<JwkSet>> {
        match self.source.fetch().await {
            Ok(FetchedKeys { keys, max_age }) => {
                let keys = Arc::new(keys);
                let fresh_until = Instant::now() + max_age;
                let mut state = self.state.lock();
                state.cached = Some(CachedKeys { keys: Arc::clone(&keys), fresh_until });
                state.retry_at = None;
                Some(keys)
            }
            Err(error) => {
                tracing::warn!(%error, "cannot fetch the signing keys of the issuer");
                self.state.lock().retry_at = Some(Instant::now() + RETRY_INTERVAL);
                None
            }
        }
    }
}

fn no_keys() -> VerifyError {
    VerifyError::unavailable("the signing keys of the issuer cannot be fetched")
}
