//! Byte budgets: how much is held for clients, in all and for each, and what is given up when it is too much.
//!
//! Invariant: nobody holds more than the budget for longer than one operation: what goes beyond it is taken from the
//! holder that has been idle longest, of the same client first where that client is over its share, and at last from the
//! holder that asked. The lock is held for the accounts only, never while something is given up.

use std::fmt;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::http::server::client_id::ClientId;
use crate::http::server::ledger::{Key, Ledger};

/// How many bytes may be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ByteBudget {
    /// For all clients.
    pub all: usize,
    /// For one client: an authenticated principal, or else an address.
    pub per_client: usize,
}

impl ByteBudget {
    /// So many for all clients, and so many of them for one.
    pub const fn new(all: usize, per_client: usize) -> Self {
        Self { all, per_client }
    }
}

/// Holds bytes, and can give them up.
pub(crate) trait Holder: Send + Sync {
    /// Gives up what is held.
    fn give_up(&self);
}

/// The accounts of everybody who holds bytes.
pub(crate) struct Budget {
    limit: ByteBudget,
    ledger: Mutex<Ledger<Weak<dyn Holder>>>,
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl Budget {
    pub(crate) fn new(limit: ByteBudget) -> Arc<Self> {
        Arc::new(Self { limit, ledger: Mutex::default() })
    }

    /// Opens an account. It is busy until it is set idle.
    pub(crate) fn open(self: &Arc<Self>, client: Option<&ClientId>, holder: Weak<dyn Holder>) -> Account {
        let key = self.ledger.lock().insert(client, holder);
        Account { budget: Arc::clone(self), key }
    }

    /// Bytes held by all.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.ledger.lock().total()
    }
}

/// The account of one holder; closed when it is dropped.
#[derive(Debug)]
pub(crate) struct Account {
    budget: Arc<Budget>,
    key: Key,
}

impl Account {
    /// Counts more bytes, and selects the idle holders that give theirs up for it.
    pub(crate) fn add(&self, bytes: usize) -> Added {
        let ByteBudget { all, per_client } = self.budget.limit;
        let mut ledger = self.budget.ledger.lock();
        let weight = ledger.weight(self.key).saturating_add(bytes);
        ledger.set_weight(self.key, weight);
        let (mut total, mut share) = (ledger.total(), ledger.total_beside(self.key));
        let mut evicted = Vec::new();
        while total > all || share > per_client {
            let is_own = share > per_client;
            let oldest = if is_own { ledger.oldest_beside(self.key) } else { ledger.oldest() };
            let Some(oldest) = oldest.filter(|oldest| *oldest != self.key) else { break };
            let freed = ledger.weight(oldest);
            total -= freed;
            if ledger.is_of_one_client(oldest, self.key) {
                share -= freed;
            }
            ledger.withdraw(oldest);
            evicted.extend(ledger.get_mut(oldest).and_then(|holder| holder.upgrade()));
        }
        let excess = total.saturating_sub(all).max(share.saturating_sub(per_client));
        Added { excess, evicted: Evicted(evicted) }
    }

    /// Counts fewer bytes.
    pub(crate) fn remove(&self, bytes: usize) {
        let mut ledger = self.budget.ledger.lock();
        let weight = ledger.weight(self.key).saturating_sub(bytes);
        ledger.set_weight(self.key, weight);
    }

    /// Counts fewer bytes, of an idle holder that was used just now.
    pub(crate) fn take(&self, bytes: usize) {
        let mut ledger = self.budget.ledger.lock();
        let weight = ledger.weight(self.key).saturating_sub(bytes);
        ledger.set_weight(self.key, weight);
        ledger.set_idle(self.key);
    }

    /// It is idle, and was used just now: what it holds may be given up for others.
    pub(crate) fn set_idle(&self) {
        self.budget.ledger.lock().set_idle(self.key);
    }

    /// It is busy: what it holds stays.
    pub(crate) fn set_busy(&self) {
        self.budget.ledger.lock().set_busy(self.key);
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.budget.ledger.lock().remove(self.key);
    }
}

/// What came of counting more bytes.
#[must_use]
pub(crate) struct Added {
    /// Bytes that are too many even so: the holder itself has to give them up.
    pub(crate) excess: usize,
    pub(crate) evicted: Evicted,
}

/// Holders that have to give up what they hold. To be told without any lock of a holder held.
#[must_use]
#[derive(Default)]
pub(crate) struct Evicted(Vec<Arc<dyn Holder>>);

impl Evicted {
    pub(crate) fn give_up(self) {
        self.0.iter().for_each(|holder| holder.give_up());
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
        fn give_up(&self) {
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
            added.evicted.give_up();
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
