//! Byte budgets: how many bytes are buffered for clients, in total and per client, and whose are evicted beyond that.
//!
//! Invariant: the budget is exceeded for no longer than one operation. The excess is evicted from the holder that has
//! been idle longest, first among those of the same client if that client is over its share, and last from the holder
//! that asked. The lock guards the accounts only and is never held during an eviction.

use std::fmt;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::http::server::client_id::ClientId;
use crate::http::server::lru::{EntryKey, WeightedLru};

/// A limit on buffered bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ByteBudget {
    /// For all clients.
    pub all: usize,
    /// For one client: an authenticated principal, or else an address.
    pub per_client: usize,
}

impl ByteBudget {
    /// Returns a budget of `all` bytes, of which one client may use `per_client`.
    pub const fn new(all: usize, per_client: usize) -> Self {
        Self { all, per_client }
    }
}

/// A holder of buffered bytes that can be evicted.
pub(crate) trait Holder: Send + Sync {
    /// Drops all buffered bytes.
    fn release_bytes(&self);
}

/// The accounts of all holders.
pub(crate) struct Budget {
    limit: ByteBudget,
    lru: Mutex<WeightedLru<Weak<dyn Holder>>>,
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl Budget {
    pub(crate) fn new(limit: ByteBudget) -> Arc<Self> {
        Arc::new(Self { limit, lru: Mutex::default() })
    }

    /// Opens an account. It counts as busy until it is set idle.
    pub(crate) fn open(self: &Arc<Self>, client: Option<&ClientId>, holder: Weak<dyn Holder>) -> Account {
        let key = self.lru.lock().insert(client, holder);
        Account { budget: Arc::clone(self), key }
    }

    /// Returns the bytes held in total.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.lru.lock().total()
    }
}

/// The account of one holder. Dropping it closes the account.
#[derive(Debug)]
pub(crate) struct Account {
    budget: Arc<Budget>,
    key: EntryKey,
}

impl Account {
    /// Adds bytes, and selects the idle holders to evict for them.
    pub(crate) fn add(&self, bytes: usize) -> AddOutcome {
        let ByteBudget { all, per_client } = self.budget.limit;
        let mut lru = self.budget.lru.lock();
        let weight = lru.weight(self.key).saturating_add(bytes);
        lru.set_weight(self.key, weight);
        let (mut total, mut share) = (lru.total(), lru.client_total(self.key));
        let mut evicted = Vec::new();
        while total > all || share > per_client {
            let is_own = share > per_client;
            let oldest = if is_own { lru.oldest_of_same_client(self.key) } else { lru.oldest() };
            let Some(oldest) = oldest.filter(|oldest| *oldest != self.key) else { break };
            let freed = lru.weight(oldest);
            total -= freed;
            if lru.have_same_client(oldest, self.key) {
                share -= freed;
            }
            lru.exclude(oldest);
            evicted.extend(lru.get_mut(oldest).and_then(|holder| holder.upgrade()));
        }
        let excess = total.saturating_sub(all).max(share.saturating_sub(per_client));
        AddOutcome { excess, evicted: EvictedHolders(evicted) }
    }

    /// Subtracts bytes.
    pub(crate) fn remove(&self, bytes: usize) {
        let mut lru = self.budget.lru.lock();
        let weight = lru.weight(self.key).saturating_sub(bytes);
        lru.set_weight(self.key, weight);
    }

    /// Subtracts bytes, and marks the idle holder as most recently used.
    pub(crate) fn remove_and_touch(&self, bytes: usize) {
        let mut lru = self.budget.lru.lock();
        let weight = lru.weight(self.key).saturating_sub(bytes);
        lru.set_weight(self.key, weight);
        lru.set_idle(self.key);
    }

    /// Marks the holder as idle and most recently used: it may be evicted.
    pub(crate) fn set_idle(&self) {
        self.budget.lru.lock().set_idle(self.key);
    }

    /// Marks the holder as busy: it is not evicted.
    pub(crate) fn set_busy(&self) {
        self.budget.lru.lock().set_busy(self.key);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.budget.lru.lock().remove(self.key);
    }
}

/// The outcome of adding bytes.
#[must_use]
pub(crate) struct AddOutcome {
    /// Bytes beyond the budget even after the evictions: the holder itself has to drop them.
    pub(crate) excess: usize,
    pub(crate) evicted: EvictedHolders,
}

/// Holders selected for eviction. Call [`release_bytes`](Self::release_bytes) while holding no holder's lock.
#[must_use]
#[derive(Default)]
pub(crate) struct EvictedHolders(Vec<Arc<dyn Holder>>);

impl EvictedHolders {
    pub(crate) fn release_bytes(self) {
        self.0.iter().for_each(|holder| holder.release_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Held {
        account: Mutex<Option<Account>>,
        bytes: Mutex<usize>,
    }

    impl Holder for Held {
        fn release_bytes(&self) {
            let bytes = std::mem::take(&mut *self.bytes.lock());
            self.account.lock().as_ref().unwrap().remove(bytes);
        }
    }

    impl Held {
        fn open(budget: &Arc<Budget>, client: &str) -> Arc<Self> {
            let held = Arc::new(Self { account: Mutex::default(), bytes: Mutex::default() });
            let holder: Weak<dyn Holder> = Arc::<Self>::downgrade(&held) as _;
            let account = budget.open(Some(&ClientId::Principal(client.into())), holder);
            account.set_idle();
            *held.account.lock() = Some(account);
            held
        }

        fn add(&self, bytes: usize) -> usize {
            *self.bytes.lock() += bytes;
            let added = self.account.lock().as_ref().unwrap().add(bytes);
            added.evicted.release_bytes();
            added.excess
        }

        fn held(&self) -> usize {
            *self.bytes.lock()
        }
    }

    #[test]
    fn s4_the_oldest_idle_holder_of_the_client_that_is_over_gives_way() {
        let budget = Budget::new(ByteBudget::new(10, 6));
        let [first, second, other] = ["ada", "ada", "bob"].map(|client| Held::open(&budget, client));
        assert_eq!((first.add(3), second.add(3), other.add(4)), (0, 0, 0));
        assert_eq!(second.add(2), 0);
        assert_eq!(
            (first.held(), second.held(), other.held()),
            (0, 5, 4),
            "the first of the same client gave way"
        );
        assert_eq!(first.add(1), 0);
        assert_eq!(other.add(2), 0);
        assert_eq!((first.held(), second.held(), other.held()), (1, 0, 6), "the oldest of all gave way");
        assert_eq!(other.add(1), 1, "beyond its share, with nothing else of its own");
        assert_eq!(budget.held(), 8);
    }

    #[test]
    fn s4_a_busy_holder_keeps_what_it_holds() {
        let budget = Budget::new(ByteBudget::new(10, 10));
        let [busy, idle] = ["ada", "bob"].map(|client| Held::open(&budget, client));
        assert_eq!(busy.add(8), 0);
        busy.account.lock().as_ref().unwrap().set_busy();
        assert_eq!(idle.add(4), 2);
        assert_eq!((busy.held(), idle.held()), (8, 4));
        drop(busy);
        assert_eq!(budget.held(), 4);
    }
}
