//! A token store in memory.

use std::collections::HashMap;
use std::fmt;
use std::future::ready;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_http::BoxFuture;

use crate::error::StoreError;
use crate::store::contents::Contents;
use crate::store::grant::{Grant, GrantKey, ServerAccount, StoredClient};
use crate::store::token_store::{Generation, StoreLock, StoredGrant, SwapOutcome, TokenStore};

/// A token store in memory: grants end with the process.
#[derive(Default)]
pub struct MemoryStore {
    /// Held for a lookup or an insertion, never across an await.
    contents: Mutex<Contents>,
    locks: Mutex<HashMap<GrantKey, Arc<tokio::sync::Mutex<()>>>>,
}

impl MemoryStore {
    /// Returns an empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

impl TokenStore for MemoryStore {
    fn find<'a>(
        &'a self,
        server: &'a ServerAccount,
    ) -> BoxFuture<'a, Result<Option<StoredGrant>, StoreError>> {
        Box::pin(ready(Ok(self.contents.lock().find(server))))
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<StoredGrant>, StoreError>> {
        Box::pin(ready(Ok(self.contents.lock().list())))
    }

    fn compare_and_set<'a>(
        &'a self,
        key: &'a GrantKey,
        expected: Option<Generation>,
        grant: Option<Grant>,
    ) -> BoxFuture<'a, Result<SwapOutcome, StoreError>> {
        Box::pin(ready(self.contents.lock().compare_and_set(key, expected, grant)))
    }

    fn lock<'a>(&'a self, key: &'a GrantKey) -> BoxFuture<'a, Result<StoreLock, StoreError>> {
        let lock = Arc::clone(self.locks.lock().entry(key.clone()).or_default());
        Box::pin(async move { Ok(StoreLock::new(lock.lock_owned().await)) })
    }

    fn client<'a>(
        &'a self,
        issuer: &'a str,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredClient>, StoreError>> {
        Box::pin(ready(Ok(self.contents.lock().client(issuer, redirect_uri))))
    }

    fn set_client<'a>(
        &'a self,
        issuer: &'a str,
        redirect_uri: &'a str,
        client: Option<StoredClient>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.contents.lock().set_client(issuer, redirect_uri, client);
        Box::pin(ready(Ok(())))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").field("grants", &self.contents.lock().len()).finish_non_exhaustive()
    }
}
