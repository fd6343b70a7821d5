//! A JSON object as a map from strings to values of one type, in insertion order.
//!
//! Invariant: keys are unique; of duplicates on the wire the last one wins.
//! Backed by a vector: these objects have few keys, and the order of the author must survive.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde_core::de::{MapAccess, Visitor};
use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

/// A map from strings that preserves the order of its keys.
#[derive(Clone, PartialEq, Eq)]
pub struct OrderedMap<V>(Vec<(String, V)>);

impl<V> OrderedMap<V> {
    /// Creates an empty map.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the value of `key`.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Returns the value of `key`, mutably.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        self.0.iter_mut().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Returns whether the map contains `key`.
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Sets `key`, in place if it exists and at the end otherwise. Returns the previous value.
    pub fn insert(&mut self, key: impl Into<String>, value: V) -> Option<V> {
        let key = key.into();
        if let Some(old) = self.get_mut(&key) {
            return Some(std::mem::replace(old, value));
        }
        self.0.push((key, value));
        None
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<V> {
        let index = self.0.iter().position(|(known, _)| known == key)?;
        Some(self.0.remove(index).1)
    }

    /// Keeps the entries for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut V) -> bool) {
        self.0.retain_mut(|(key, value)| keep(key, value));
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the entries, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &V)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Iterates over the entries, in order, with mutable values.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut V)> {
        self.0.iter_mut().map(|(key, value)| (key.as_str(), value))
    }

    /// Iterates over the keys, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    fn without_duplicates(mut entries: Vec<(String, V)>) -> Self {
        // A hash set keeps this linear for objects with very many keys.
        let mut seen: HashSet<&str> = HashSet::with_capacity(entries.len());
        let last: Vec<bool> = entries.iter().rev().map(|(key, _)| seen.insert(key)).collect();
        if seen.len() < entries.len() {
            let mut last = last.into_iter().rev();
            entries.retain(|_| last.next().unwrap_or(true));
        }
        Self(entries)
    }
}

impl<V> Default for OrderedMap<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: fmt::Debug> fmt::Debug for OrderedMap<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Into<String>, V> FromIterator<(K, V)> for OrderedMap<V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self::without_duplicates(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl<V> From<Vec<(String, V)>> for OrderedMap<V> {
    /// Creates a map from entries in wire order; of duplicates the last one wins.
    fn from(entries: Vec<(String, V)>) -> Self {
        if entries.len() < 2 { Self(entries) } else { Self::without_duplicates(entries) }
    }
}

impl<V> IntoIterator for OrderedMap<V> {
    type Item = (String, V);
    type IntoIter = std::vec::IntoIter<(String, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<V: Serialize> Serialize for OrderedMap<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for OrderedMap<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
            type Value = OrderedMap<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(OrderedMap::from(entries))
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::raw::Raw;

    #[test]
    fn order_and_bytes_survive() {
        let text = r#"{"z":1.50,"a":{"x": [ ]},"m":null}"#;
        let map: OrderedMap<Raw> = serde_json::from_str(text).unwrap();
        assert_eq!(map.keys().collect::<Vec<_>>(), ["z", "a", "m"]);
        assert_eq!(serde_json::to_string(&map).unwrap(), text);
    }

    #[test]
    fn the_last_duplicate_counts() {
        let map: OrderedMap<i32> = serde_json::from_str(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(map.get("a"), Some(&3));
        assert_eq!(map.len(), 2);
    }

    proptest! {
        #[test]
        fn reads_like_a_hash_map(entries in proptest::collection::vec(("[a-e]", any::<i32>()), 0..12)) {
            let map: OrderedMap<i32> = entries.iter().cloned().collect();
            let model: std::collections::HashMap<String, i32> = entries.into_iter().collect();
            prop_assert_eq!(map.len(), model.len());
            for (key, value) in &model {
                prop_assert_eq!(map.get(key), Some(value));
            }
        }
    }
}
