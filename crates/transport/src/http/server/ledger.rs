//! Ledger: entries with a weight, in all and per client, and which of the idle ones was used least recently.
//!
//! Every operation takes constant time, however many entries there are: the orders of use are doubly linked lists
//! through the entries themselves. Invariant: an entry is in the order of its client and in the order of all iff it is
//! idle, its weight is not zero, and it was not withdrawn.

use std::collections::HashMap;

use crate::http::server::client_id::ClientId;

/// No entry, no client.
const NIL: usize = usize::MAX;

/// The order of all entries, and that of the entries of one client.
#[derive(Debug, Clone, Copy)]
enum Order {
    All = 0,
    Client = 1,
}

/// Names an entry. One that was removed is not found again, even if its place was reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    index: usize,
    generation: u64,
}

/// The entries of a ledger.
#[derive(Debug)]
pub(crate) struct Ledger<T> {
    slots: Vec<Slot<T>>,
    free: Vec<usize>,
    all: Share,
    shares: Vec<Share>,
    free_shares: Vec<usize>,
    // Keyed by what clients may choose, so with the hasher that resists chosen keys.
    by_client: HashMap<ClientId, usize>,
}

#[derive(Debug)]
struct Slot<T> {
    value: Option<T>,
    generation: u64,
    share: usize,
    weight: usize,
    is_idle: bool,
    is_listed: bool,
    links: [Links; 2],
}

#[derive(Debug, Clone, Copy)]
struct Links {
    older: usize,
    newer: usize,
}

const UNLINKED: [Links; 2] = [Links { older: NIL, newer: NIL }; 2];

/// What is held in all, or for one client.
#[derive(Debug)]
struct Share {
    client: Option<ClientId>,
    entries: usize,
    weight: usize,
    oldest: usize,
    newest: usize,
}

impl Share {
    fn new(client: Option<ClientId>) -> Self {
        Self { client, entries: 0, weight: 0, oldest: NIL, newest: NIL }
    }
}

impl<T> Default for Ledger<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            all: Share::new(None),
            shares: Vec::new(),
            free_shares: Vec::new(),
            by_client: HashMap::new(),
        }
    }
}

impl<T> Ledger<T> {
    /// Adds an entry: busy, and without weight.
    pub(crate) fn insert(&mut self, client: Option<&ClientId>, value: T) -> Key {
        let share = client.map_or(NIL, |client| self.share(client));
        self.all.entries += 1;
        if let Some(share) = self.shares.get_mut(share) {
            share.entries += 1;
        }
        let slot = |generation| Slot {
            value: Some(value),
            generation,
            share,
            weight: 0,
            is_idle: false,
            is_listed: false,
            links: UNLINKED,
        };
        match self.free.pop() {
            Some(index) => {
                let generation = self.slots[index].generation + 1;
                self.slots[index] = slot(generation);
                Key { index, generation }
            }
            None => {
                self.slots.push(slot(0));
                Key { index: self.slots.len() - 1, generation: 0 }
            }
        }
    }

    /// Removes an entry.
    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        self.slot(key)?;
        self.unlist(key.index);
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

    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let slot = self.slots.get_mut(key.index).filter(|slot| slot.generation == key.generation)?;
        slot.value.as_mut()
    }

    /// Sets the weight of an entry.
    pub(crate) fn set_weight(&mut self, key: Key, weight: usize) {
        let Some(slot) = self.slot(key) else { return };
        let (before, share, is_idle) = (slot.weight, slot.share, slot.is_idle);
        self.slots[key.index].weight = weight;
        self.all.weight = self.all.weight - before + weight;
        if let Some(share) = self.shares.get_mut(share) {
            share.weight = share.weight - before + weight;
        }
        match (is_idle, weight) {
            (true, 0) => self.unlist(key.index),
            (true, _) if before == 0 => self.list(key.index),
            _ => {}
        }
    }

    pub(crate) fn weight(&self, key: Key) -> usize {
        self.slot(key).map_or(0, |slot| slot.weight)
    }

    /// Takes an entry out of the order of use: it is busy.
    pub(crate) fn set_busy(&mut self, key: Key) {
        if self.slot(key).is_some() {
            self.slots[key.index].is_idle = false;
            self.unlist(key.index);
        }
    }

    /// Makes an entry the one that was used last.
    pub(crate) fn set_idle(&mut self, key: Key) {
        if self.slot(key).is_some() {
            self.slots[key.index].is_idle = true;
            self.unlist(key.index);
            if self.slots[key.index].weight > 0 {
                self.list(key.index);
            }
        }
    }

    /// Takes an idle entry out of the order of use until it is used again, or holds something again.
    pub(crate) fn withdraw(&mut self, key: Key) {
        if self.slot(key).is_some() {
            self.unlist(key.index);
        }
    }

    /// The idle entry that was used least recently.
    pub(crate) fn oldest(&self) -> Option<Key> {
        self.key(self.all.oldest)
    }

    /// The idle entry of a client that was used least recently.
    pub(crate) fn oldest_of(&self, client: &ClientId) -> Option<Key> {
        self.key(self.shares[*self.by_client.get(client)?].oldest)
    }

    /// The idle entry, of the client of this entry, that was used least recently.
    pub(crate) fn oldest_beside(&self, key: Key) -> Option<Key> {
        self.key(self.shares.get(self.slot(key)?.share)?.oldest)
    }

    /// Whether two entries are of one client that is known.
    pub(crate) fn is_of_one_client(&self, one: Key, other: Key) -> bool {
        let share = |key| self.slot(key).map_or(NIL, |slot| slot.share);
        share(one) != NIL && share(one) == share(other)
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.all.entries
    }

    /// How many entries a client has.
    pub(crate) fn len_of(&self, client: &ClientId) -> usize {
        self.by_client.get(client).map_or(0, |share| self.shares[*share].entries)
    }

    /// The weight of all entries.
    pub(crate) fn total(&self) -> usize {
        self.all.weight
    }

    /// The weight of all entries of the client of this entry; nothing where the client is not known.
    pub(crate) fn total_beside(&self, key: Key) -> usize {
        let share = self.slot(key).and_then(|slot| self.shares.get(slot.share));
        share.map_or(0, |share| share.weight)
    }

    fn slot(&self, key: Key) -> Option<&Slot<T>> {
        let slot = self.slots.get(key.index)?;
        (slot.generation == key.generation && slot.value.is_some()).then_some(slot)
    }

    fn key(&self, index: usize) -> Option<Key> {
        self.slots.get(index).map(|slot| Key { index, generation: slot.generation })
    }

    fn share(&mut self, client: &ClientId) -> usize {
        if let Some(share) = self.by_client.get(client) {
            return *share;
        }
        let share = Share::new(Some(client.clone()));
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

    fn ends(&mut self, order: Order, share: usize) -> Option<&mut Share> {
        match order {
            Order::All => Some(&mut self.all),
            Order::Client => self.shares.get_mut(share),
        }
    }

    /// Appends an entry to both orders.
    fn list(&mut self, index: usize) {
        self.slots[index].is_listed = true;
        let share = self.slots[index].share;
        for order in [Order::All, Order::Client] {
            let Some(ends) = self.ends(order, share) else { continue };
            let before = std::mem::replace(&mut ends.newest, index);
            if before == NIL {
                ends.oldest = index;
            } else {
                self.slots[before].links[order as usize].newer = index;
            }
            self.slots[index].links[order as usize] = Links { older: before, newer: NIL };
        }
    }

    /// Takes an entry out of both orders.
    fn unlist(&mut self, index: usize) {
        if !std::mem::take(&mut self.slots[index].is_listed) {
            return;
        }
        let share = self.slots[index].share;
        let links = std::mem::replace(&mut self.slots[index].links, UNLINKED);
        for order in [Order::All, Order::Client] {
            let Links { older, newer } = links[order as usize];
            let Some(ends) = self.ends(order, share) else { continue };
            if older == NIL {
                ends.oldest = newer;
            }
            if newer == NIL {
                ends.newest = older;
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
