//! Weighted LRU: entries with a weight, counted in total and per client, and the least recently used of the idle ones.
//!
//! Every operation takes constant time: the LRU lists are doubly linked through the entries. Invariant: an entry is in
//! the list of its client and in the list of all iff it is idle, its weight is not zero, and it was not excluded.

use std::collections::HashMap;

use crate::http::server::client_id::ClientId;

/// Stands for "no entry" and "no client" in an index.
const NIL: usize = usize::MAX;

/// The list of all idle entries, and the list of those of one client.
#[derive(Debug, Clone, Copy)]
enum LruList {
    All = 0,
    Client = 1,
}

/// The key of an entry. A removed entry is not found again, even if its slot was reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryKey {
    index: usize,
    generation: u64,
}

/// Entries in least-recently-used order.
#[derive(Debug)]
pub(crate) struct WeightedLru<T> {
    slots: Vec<LruSlot<T>>,
    free: Vec<usize>,
    all: ClientShare,
    shares: Vec<ClientShare>,
    free_shares: Vec<usize>,
    // Clients choose the keys, so the hasher must resist collisions.
    by_client: HashMap<ClientId, usize>,
}

#[derive(Debug)]
struct LruSlot<T> {
    value: Option<T>,
    generation: u64,
    share: usize,
    weight: usize,
    is_idle: bool,
    is_linked: bool,
    links: [Links; 2],
}

#[derive(Debug, Clone, Copy)]
struct Links {
    older: usize,
    newer: usize,
}

const UNLINKED: [Links; 2] = [Links { older: NIL, newer: NIL }; 2];

/// Count, weight and LRU list ends of one client, or of all.
#[derive(Debug)]
struct ClientShare {
    client: Option<ClientId>,
    entries: usize,
    weight: usize,
    oldest: usize,
    newest: usize,
}

impl ClientShare {
    fn new(client: Option<ClientId>) -> Self {
        Self { client, entries: 0, weight: 0, oldest: NIL, newest: NIL }
    }
}

impl<T> Default for WeightedLru<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            all: ClientShare::new(None),
            shares: Vec::new(),
            free_shares: Vec::new(),
            by_client: HashMap::new(),
        }
    }
}

impl<T> WeightedLru<T> {
    /// Adds an entry: busy, and without weight.
    pub(crate) fn insert(&mut self, client: Option<&ClientId>, value: T) -> EntryKey {
        let share = client.map_or(NIL, |client| self.share(client));
        self.all.entries += 1;
        if let Some(share) = self.shares.get_mut(share) {
            share.entries += 1;
        }
        let slot = |generation| LruSlot {
            value: Some(value),
            generation,
            share,
            weight: 0,
            is_idle: false,
            is_linked: false,
            links: UNLINKED,
        };
        match self.free.pop() {
            Some(index) => {
                let generation = self.slots[index].generation + 1;
                self.slots[index] = slot(generation);
                EntryKey { index, generation }
            }
            None => {
                self.slots.push(slot(0));
                EntryKey { index: self.slots.len() - 1, generation: 0 }
            }
        }
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, key: EntryKey) -> Option<T> {
        self.slot(key)?;
        self.unlink(key.index);
        let slot = &mut self.slots[key.index];
        let (value, share, weight) = (slot.value.take()?, slot.share, slot.weight);
        self.free.push(key.index);
        self.all.entries -= 1;
        self.all.weight -= weight;
        if let Some(client) = self.shares.get_mut(share) {
            client.entries -= 1;
            client.weight -= weight;
            if client.entries == 0 {
                let client = client.client.take();
                client.and_then(|client| self.by_client.remove(&client));
                self.free_shares.push(share);
            }
        }
        Some(value)
    }

    /// Removes all entries.
    pub(crate) fn drain(&mut self) -> Vec<T> {
        let values = self.slots.iter_mut().filter_map(|slot| slot.value.take()).collect();
        *self = Self::default();
        values
    }

    pub(crate) fn get_mut(&mut self, key: EntryKey) -> Option<&mut T> {
        let slot = self.slots.get_mut(key.index).filter(|slot| slot.generation == key.generation)?;
        slot.value.as_mut()
    }

    /// Sets the weight of an entry.
    pub(crate) fn set_weight(&mut self, key: EntryKey, weight: usize) {
        let Some(slot) = self.slot(key) else { return };
        let (before, share, is_idle) = (slot.weight, slot.share, slot.is_idle);
        self.slots[key.index].weight = weight;
        self.all.weight = self.all.weight - before + weight;
        if let Some(share) = self.shares.get_mut(share) {
            share.weight = share.weight - before + weight;
        }
        match (is_idle, weight) {
            (true, 0) => self.unlink(key.index),
            (true, _) if before == 0 => self.link(key.index),
            _ => {}
        }
    }

    pub(crate) fn weight(&self, key: EntryKey) -> usize {
        self.slot(key).map_or(0, |slot| slot.weight)
    }

    /// Marks an entry as busy.
    pub(crate) fn set_busy(&mut self, key: EntryKey) {
        if self.slot(key).is_some() {
            self.slots[key.index].is_idle = false;
            self.unlink(key.index);
        }
    }

    /// Marks an entry as idle and most recently used.
    pub(crate) fn set_idle(&mut self, key: EntryKey) {
        if self.slot(key).is_some() {
            self.slots[key.index].is_idle = true;
            self.unlink(key.index);
            if self.slots[key.index].weight > 0 {
                self.link(key.index);
            }
        }
    }

    /// Takes an idle entry out of the lists until it is used again or gets a weight again.
    pub(crate) fn exclude(&mut self, key: EntryKey) {
        if self.slot(key).is_some() {
            self.unlink(key.index);
        }
    }

    /// Returns the least recently used idle entry.
    pub(crate) fn oldest(&self) -> Option<EntryKey> {
        self.key(self.all.oldest)
    }

    /// Returns the least recently used idle entry of a client.
    pub(crate) fn oldest_of(&self, client: &ClientId) -> Option<EntryKey> {
        self.key(self.shares[*self.by_client.get(client)?].oldest)
    }

    /// Returns the least recently used idle entry of the client that owns this entry.
    pub(crate) fn oldest_of_same_client(&self, key: EntryKey) -> Option<EntryKey> {
        self.key(self.shares.get(self.slot(key)?.share)?.oldest)
    }

    /// Returns whether both entries belong to the same identified client.
    pub(crate) fn have_same_client(&self, one: EntryKey, other: EntryKey) -> bool {
        let share = |key| self.slot(key).map_or(NIL, |slot| slot.share);
        share(one) != NIL && share(one) == share(other)
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.all.entries
    }

    /// Returns the number of entries of a client.
    pub(crate) fn len_of(&self, client: &ClientId) -> usize {
        self.by_client.get(client).map_or(0, |share| self.shares[*share].entries)
    }

    /// Returns the weight of all entries.
    pub(crate) fn total(&self) -> usize {
        self.all.weight
    }

    /// Returns the total weight of the client that owns this entry; 0 if the client is not identified.
    pub(crate) fn client_total(&self, key: EntryKey) -> usize {
        let share = self.slot(key).and_then(|slot| self.shares.get(slot.share));
        share.map_or(0, |share| share.weight)
    }

    fn slot(&self, key: EntryKey) -> Option<&LruSlot<T>> {
        let slot = self.slots.get(key.index)?;
        (slot.generation == key.generation && slot.value.is_some()).then_some(slot)
    }

    fn key(&self, index: usize) -> Option<EntryKey> {
        self.slots.get(index).map(|slot| EntryKey { index, generation: slot.generation })
    }

    fn share(&mut self, client: &ClientId) -> usize {
        if let Some(share) = self.by_client.get(client) {
            return *share;
        }
        let share = ClientShare::new(Some(client.clone()));
        let index = match self.free_shares.pop() {
            Some(index) => {
                self.shares[index] = share;
                index
            }
            None => {
                self.shares.push(share);
                self.shares.len() - 1
            }
        };
        self.by_client.insert(client.clone(), index);
        index
    }

    fn list_ends(&mut self, order: LruList, share: usize) -> Option<&mut ClientShare> {
        match order {
            LruList::All => Some(&mut self.all),
            LruList::Client => self.shares.get_mut(share),
        }
    }

    /// Appends an entry to both lists.
    fn link(&mut self, index: usize) {
        self.slots[index].is_linked = true;
        let share = self.slots[index].share;
        for order in [LruList::All, LruList::Client] {
            let Some(list_ends) = self.list_ends(order, share) else { continue };
            let before = std::mem::replace(&mut list_ends.newest, index);
            if before == NIL {
                list_ends.oldest = index;
            } else {
                self.slots[before].links[order as usize].newer = index;
            }
            self.slots[index].links[order as usize] = Links { older: before, newer: NIL };
        }
    }

    /// Removes an entry from both lists.
    fn unlink(&mut self, index: usize) {
        if !std::mem::take(&mut self.slots[index].is_linked) {
            return;
        }
        let share = self.slots[index].share;
        let links = std::mem::replace(&mut self.slots[index].links, UNLINKED);
        for order in [LruList::All, LruList::Client] {
            let Links { older, newer } = links[order as usize];
            let Some(list_ends) = self.list_ends(order, share) else { continue };
            if older == NIL {
                list_ends.oldest = newer;
            }
            if newer == NIL {
                list_ends.newest = older;
            }
            if older != NIL {
                self.slots[older].links[order as usize].newer = newer;
            }
            if newer != NIL {
                self.slots[newer].links[order as usize].older = older;
            }
        }
    }
}

#[cfg(test)]
mod tests;
