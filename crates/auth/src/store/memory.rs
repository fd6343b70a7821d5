//! A token store in memory.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::ready;
use std::sync::Arc;

use parking_lot::Mutex;
use switchboard_http::BoxFuture;

use crate::error::StoreError;
use crate::store::grant::{Grant, GrantKey, ServerAccount, StoredClient};
use crate::store::token_store::{Generation, StoreLock, StoredGrant, SwapOutcome, TokenStore};

/// A token store in memory: grants end with the process.
#[derive(Default)]
pub struct MemoryStore {
    /// Held for a lookup or an insertion, never across an await.
    contents: Mutex<Contents>,
}

#[derive(Default)]
struct Contents {
    grants: BTreeMap<GrantKey, (Generation, Grant)>,
    /// The highest version that was issued: a grant that is removed and written again has a new one.
    last: Generation,
    clients: HashMap<(String, String), StoredClient>,
    locks: HashMap<GrantKey, Arc<tokio::sync::Mutex<()>>>,
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
        let contents = self.contents.lock();
        let found = contents
            .grants
            .iter()
            .filter(|(key, (_, grant))| grant.server == server.server && key.account == server.account)
            .max_by_key(|(_, (generation, _))| *generation)
            .map(|(key, (generation, grant))| StoredGrant::new(key.clone(), *generation, grant.clone()));
        Box::pin(ready(Ok(found)))
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<StoredGrant>, StoreError>> {
        let contents = self.contents.lock();
        let all = contents.grants.iter();
        let all =
            all.map(|(key, (generation, grant))| StoredGrant::new(key.clone(), *generation, grant.clone()));
        Box::pin(ready(Ok(all.collect())))
    }

    fn compare_and_set<'a>(
        &'a self,
        key: &'a GrantKey,
        expected: Option<Generation>,
        grant: Option<Grant>,
    ) -> BoxFuture<'a, Result<SwapOutcome, StoreError>> {
        let mut contents = self.contents.lock();
        let current = contents.grants.get(key);
        let outcome = if current.map(|(generation, _)| *generation) == expected {
            contents.last = contents.last.next();
            let generation = contents.last;
            match grant {
                Some(grant) => _ = contents.grants.insert(key.clone(), (generation, grant)),
                None => _ = contents.grants.remove(key),
            }
            SwapOutcome::Written(generation)
        } else {
            SwapOutcome::Conflict(current.map(|(generation, grant)| {
                Box::new(StoredGrant::new(key.clone(), *generation, grant.clone()))
            }))
        };
        Box::pin(ready(Ok(outcome)))
    }

    fn lock<'a>(&'a self, key: &'a GrantKey) -> BoxFuture<'a, Result<StoreLock, StoreError>> {
        let lock = Arc::clone(self.contents.lock().locks.entry(key.clone()).or_default());
        Box::pin(async move { Ok(StoreLock::new(lock.lock_owned().await)) })
    }

    fn client<'a>(
        &'a self,
        issuer: &'a str,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredClient>, StoreError>> {
        let key = (issuer.to_owned(), redirect_uri.to_owned());
        Box::pin(ready(Ok(self.contents.lock().clients.get(&key).cloned())))
    }

    fn set_client<'a>(
        &'a self,
        issuer: &'a str,
        redirect_uri: &'a str,
        client: Option<StoredClient>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let key = (issuer.to_owned(), redirect_uri.to_owned());
        let clients = &mut self.contents.lock().clients;
        match client {
            Some(client) => _ = clients.insert(key, client),
            None => _ = clients.remove(&key),
        }
        Box::pin(ready(Ok(())))
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("grants", &self.contents.lock().grants.len())
            .finish_non_exhaustive()
    }
}
