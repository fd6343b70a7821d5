//! The interface of token stores.

use std::any::Any;
use std::fmt;

use serde::{Deserialize, Serialize};
use switchboard_http::BoxFuture;

use crate::error::StoreError;
use crate::store::grant::{Grant, GrantKey, ServerAccount, StoredClient};

/// Keeps grants and registered clients.
///
/// Invariants: a grant is replaced or removed only by whoever read its current generation, so a process that lost a race
/// never deletes the tokens of the winner; a lock is held by at most one task of all processes that share the store.
pub trait TokenStore: Send + Sync + fmt::Debug {
    /// Returns the newest grant of an account at a server. A usable grant wins over one that needs a login.
    ///
    /// It must be cheap and must see the writes of other processes: a running process learns in this way of a token that
    /// another one has stored, whenever it has none or its own was refused.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn find<'a>(
        &'a self,
        server: &'a ServerAccount,
    ) -> BoxFuture<'a, Result<Option<StoredGrant>, StoreError>>;

    /// Returns all grants.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn list(&self) -> BoxFuture<'_, Result<Vec<StoredGrant>, StoreError>>;

    /// Replaces a grant if its generation is still the expected one; `None` stands for a grant that does not exist.
    ///
    /// # Errors
    /// When the store cannot be written. The old grant is then still there.
    fn compare_and_set<'a>(
        &'a self,
        key: &'a GrantKey,
        expected: Option<Generation>,
        grant: Option<Grant>,
    ) -> BoxFuture<'a, Result<SwapOutcome, StoreError>>;

    /// Waits for the exclusive right to refresh a grant. Dropping the lock releases it.
    ///
    /// # Errors
    /// When the lock cannot be taken within the time limit of the store.
    fn lock<'a>(&'a self, key: &'a GrantKey) -> BoxFuture<'a, Result<StoreLock, StoreError>>;

    /// Returns the client that was registered at an issuer for a redirect URI.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn client<'a>(
        &'a self,
        issuer: &'a str,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredClient>, StoreError>>;

    /// Keeps a registered client, or forgets it.
    ///
    /// # Errors
    /// When the store cannot be written.
    fn set_client<'a>(
        &'a self,
        issuer: &'a str,
        redirect_uri: &'a str,
        client: Option<StoredClient>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// A version of a grant. Each write has a higher one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Generation(pub u64);

impl Generation {
    /// Returns the next version.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// A grant with its key and version.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoredGrant {
    /// The key.
    pub key: GrantKey,
    /// The version.
    pub generation: Generation,
    /// The grant.
    pub grant: Grant,
}

impl StoredGrant {
    /// Returns a grant with its key and version.
    pub fn new(key: GrantKey, generation: Generation, grant: Grant) -> Self {
        Self { key, generation, grant }
    }
}

/// The outcome of a compare-and-set.
#[derive(Debug, Clone)]
pub enum SwapOutcome {
    /// The grant was replaced or removed; this is its new version.
    Written(Generation),
    /// Somebody else wrote first; this is what is there now.
    Conflict(Option<Box<StoredGrant>>),
}

/// The exclusive right to refresh a grant, released on drop.
pub struct StoreLock {
    _held: Box<dyn Any + Send>,
}

impl StoreLock {
    /// Returns a lock that is held until this value is dropped.
    pub fn new(held: impl Any + Send) -> Self {
        Self { _held: Box::new(held) }
    }
}

impl fmt::Debug for StoreLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreLock")
    }
}
