//! Compares the LRU with a plain list that is searched linearly.

use proptest::prelude::*;

use super::*;

fn client(number: u8) -> ClientId {
    ClientId::Principal(number.to_string())
}

/// The same, by searching.
#[derive(Default)]
struct Plain {
    // In the order of use.
    entries: Vec<(EntryKey, Option<u8>, usize, bool)>,
}

impl Plain {
    fn at(&self, key: EntryKey) -> usize {
        self.entries.iter().position(|entry| entry.0 == key).unwrap()
    }

    fn oldest(&self, of: Option<u8>) -> Option<EntryKey> {
        let listed = self
            .entries
            .iter()
            .filter(|(_, owner, weight, idle)| *idle && *weight > 0 && (of.is_none() || *owner == of));
        listed.map(|entry| entry.0).next()
    }
}

proptest! {
    #[test]
    fn matches_a_linear_search(steps in prop::collection::vec((0_u8..5, 0_u8..4, 0_usize..40, 0_usize..3), 1..200)) {
        let (mut lru, mut plain) = (WeightedLru::default(), Plain::default());
        for (step, owner, pick, weight) in steps {
            let picked = (!plain.entries.is_empty()).then(|| plain.entries[pick % plain.entries.len()].0);
            match (step, picked) {
                (0, _) | (_, None) => {
                    // The last one is not known by name.
                    let owner = (owner < 3).then_some(owner);
                    let key = lru.insert(owner.map(client).as_ref(), ());
                    plain.entries.push((key, owner, 0, false));
                }
                (1, Some(key)) => {
                    let at = plain.at(key);
                    plain.entries.remove(at);
                    prop_assert!(lru.remove(key).is_some());
                    prop_assert!(lru.remove(key).is_none());
                    prop_assert!(lru.get_mut(key).is_none());
                }
                (2, Some(key)) => {
                    let at = plain.at(key);
                    let before = plain.entries[at].2;
                    lru.set_weight(key, weight);
                    plain.entries[at].2 = weight;
                    if before == 0 && weight > 0 {
                        let entry = plain.entries.remove(at);
                        plain.entries.push(entry);
                    }
                }
                (3, Some(key)) => {
                    let at = plain.at(key);
                    plain.entries[at].3 = false;
                    lru.set_busy(key);
                }
                (_, Some(key)) => {
                    let at = plain.at(key);
                    let mut entry = plain.entries.remove(at);
                    entry.3 = true;
                    plain.entries.push(entry);
                    lru.set_idle(key);
                }
            }
            prop_assert_eq!(lru.len(), plain.entries.len());
            prop_assert_eq!(lru.total(), plain.entries.iter().map(|entry| entry.2).sum::<usize>());
            prop_assert_eq!(lru.oldest(), plain.oldest(None));
            for owner in 0..3 {
                let own = plain.entries.iter().filter(|entry| entry.1 == Some(owner));
                prop_assert_eq!(lru.len_of(&client(owner)), own.clone().count());
                prop_assert_eq!(lru.oldest_of(&client(owner)), plain.oldest(Some(owner)));
                let weight = own.clone().map(|entry| entry.2).sum::<usize>();
                for entry in own {
                    prop_assert_eq!(lru.client_total(entry.0), weight);
                }
            }
        }
    }
}
