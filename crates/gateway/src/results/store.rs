//! The store of large results, in memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::Raw;
use tokio::time::Instant;

/// The limits of kept results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultLimits {
    /// Bytes in all.
    pub total: usize,
    /// Bytes of one principal; callers without an identity are one. A larger result is passed on whole.
    pub per_principal: usize,
    /// How long a result is kept, unless room is needed before.
    pub lifetime: Duration,
}

impl Default for ResultLimits {
    fn default() -> Self {
        Self { total: 64 * 1024 * 1024, per_principal: 8 * 1024 * 1024, lifetime: Duration::from_secs(600) }
    }
}

impl ResultLimits {
    /// Sets the bytes in all.
    #[must_use]
    pub fn with_total(mut self, bytes: usize) -> Self {
        self.total = bytes;
        self
    }

    /// Sets the bytes of one principal.
    #[must_use]
    pub fn with_per_principal(mut self, bytes: usize) -> Self {
        self.per_principal = bytes;
        self
    }

    /// Sets how long a result is kept.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }
}

/// Who may read a kept result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResultOwner {
    pub(crate) principal: Option<String>,
    pub(crate) view: Option<Arc<str>>,
}

/// A kept result.
#[derive(Debug)]
pub(crate) struct KeptResult {
    pub(crate) owner: ResultOwner,
    pub(crate) server: Arc<str>,
    /// The name of the tool on the server.
    pub(crate) tool: String,
    /// The arguments that the server got, for rules about them.
    pub(crate) arguments: Raw,
    pub(crate) text: String,
}

impl KeptResult {
    /// Returns the bytes that it counts as.
    fn size(&self) -> usize {
        self.text.len() + self.arguments.len() + self.tool.len() + 256
    }
}

/// The store of large results.
pub(crate) struct ResultStore {
    limits: ResultLimits,
    // Held for a lookup or a change, never across an await.
    kept: Mutex<KeptTable>,
}

#[derive(Default)]
struct KeptTable {
    next: u64,
    /// In the order of their age.
    entries: BTreeMap<u64, KeptEntry>,
    by_handle: HashMap<String, u64>,
    bytes: usize,
    by_principal: HashMap<Option<String>, usize>,
}

struct KeptEntry {
    handle: String,
    result: Arc<KeptResult>,
    expires: Instant,
}

impl ResultStore {
    pub(crate) fn new(limits: ResultLimits) -> Self {
        Self { limits, kept: Mutex::default() }
    }

    /// Keeps a result and returns its handle; `None` if it is larger than all results of a principal may be.
    pub(crate) fn keep(&self, result: KeptResult) -> Option<String> {
        let size = result.size();
        if size > self.limits.per_principal || size > self.limits.total {
            return None;
        }
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let handle = format!("{:032x}", u128::from_le_bytes(bytes));
        let now = Instant::now();
        let mut kept = self.kept.lock();
        kept.remove_expired(now);
        let principal = result.owner.principal.clone();
        while kept.by_principal.get(&principal).copied().unwrap_or_default() + size
            > self.limits.per_principal
        {
            kept.remove_oldest(|entry| entry.result.owner.principal == principal)?;
        }
        while kept.bytes + size > self.limits.total {
            kept.remove_oldest(|_| true)?;
        }
        let number = kept.next;
        kept.next += 1;
        kept.bytes += size;
        *kept.by_principal.entry(principal).or_default() += size;
        kept.by_handle.insert(handle.clone(), number);
        let expires = now + self.limits.lifetime;
        kept.entries.insert(number, KeptEntry { handle: handle.clone(), result: Arc::new(result), expires });
        Some(handle)
    }

    /// Returns a result that is kept for this owner.
    pub(crate) fn find(&self, handle: &str, owner: &ResultOwner) -> Option<Arc<KeptResult>> {
        let mut kept = self.kept.lock();
        kept.remove_expired(Instant::now());
        let entry = kept.entries.get(kept.by_handle.get(handle)?)?;
        (entry.result.owner == *owner).then(|| Arc::clone(&entry.result))
    }

    /// Forgets the results of a view.
    pub(crate) fn forget_view(&self, view: &str) {
        let mut kept = self.kept.lock();
        while kept.remove_oldest(|entry| entry.result.owner.view.as_deref() == Some(view)).is_some() {}
    }
}

impl KeptTable {
    fn remove_expired(&mut self, now: Instant) {
        // All have the same lifetime: the oldest expires first.
        while self.entries.first_key_value().is_some_and(|(_, entry)| entry.expires <= now) {
            self.remove_oldest(|_| true);
        }
    }

    fn remove_oldest(&mut self, is_candidate: impl Fn(&KeptEntry) -> bool) -> Option<()> {
        let (&number, _) = self.entries.iter().find(|(_, entry)| is_candidate(entry))?;
        let entry = self.entries.remove(&number)?;
        self.by_handle.remove(&entry.handle);
        let size = entry.result.size();
        self.bytes -= size;
        let principal = &entry.result.owner.principal;
        if let Some(bytes) = self.by_principal.get_mut(principal) {
            *bytes -= size;
            if *bytes == 0 {
                self.by_principal.remove(principal);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(principal: &str) -> ResultOwner {
        ResultOwner { principal: Some(principal.to_owned()), view: Some("v".into()) }
    }

    fn result(principal: &str, bytes: usize) -> KeptResult {
        KeptResult {
            owner: owner(principal),
            server: "up".into(),
            tool: String::new(),
            arguments: Raw::empty_object(),
            text: "x".repeat(bytes - 258),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn results_are_bounded_by_bytes_principal_and_time() {
        let limits = ResultLimits::default().with_total(3_000).with_per_principal(2_000);
        let store = ResultStore::new(limits.with_lifetime(Duration::from_secs(60)));
        let [ada_1, ada_2] = [1_000, 1_000].map(|bytes| store.keep(result("ada", bytes)).unwrap());
        // The third of one principal takes the place of its first.
        let ada_3 = store.keep(result("ada", 1_000)).unwrap();
        assert!(store.find(&ada_1, &owner("ada")).is_none());
        assert!(store.find(&ada_2, &owner("ada")).is_some() && store.find(&ada_3, &owner("ada")).is_some());
        // All together are bounded, too: the oldest goes.
        let bob = [1_000, 1_000].map(|bytes| store.keep(result("bob", bytes)).unwrap());
        assert!(store.find(&ada_2, &owner("ada")).is_none());
        assert!(bob.iter().all(|handle| store.find(handle, &owner("bob")).is_some()));
        assert_eq!(store.kept.lock().bytes, 3_000);
        assert!(store.keep(result("ada", 2_001)).is_none(), "larger than all of one principal");
        // A handle belongs to its principal and its view.
        assert!(store.find(&bob[0], &owner("ada")).is_none());
        assert!(store.find(&bob[0], &ResultOwner { view: None, ..owner("bob") }).is_none());
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(store.find(&bob[0], &owner("bob")).is_none(), "expired");
        let kept = store.kept.lock();
        assert!(kept.bytes == 0 && kept.by_principal.is_empty() && kept.by_handle.is_empty());
    }

    #[test]
    fn results_of_a_view_are_forgotten_with_it() {
        let store = ResultStore::new(ResultLimits::default());
        let handle = store.keep(result("ada", 1_000)).unwrap();
        store.forget_view("other");
        assert!(store.find(&handle, &owner("ada")).is_some());
        store.forget_view("v");
        assert!(store.find(&handle, &owner("ada")).is_none());
    }
}
