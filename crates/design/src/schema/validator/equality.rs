//! Equality of JSON values with numbers by value, and detection of duplicates; both are charged to the budget.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use serde_json::Value;

use super::evaluate::{Evaluation, OverBudget};
use super::number;

impl Evaluation<'_> {
    pub(super) fn equal(&mut self, one: &Value, other: &Value) -> Result<bool, OverBudget> {
        self.charge(1)?;
        Ok(match (one, other) {
            (Value::Number(one), Value::Number(other)) => number::equal(one, other),
            (Value::String(one), Value::String(other)) => {
                if one.len() != other.len() {
                    return Ok(false);
                }
                self.charge(one.len() as u64 / 64)?;
                one == other
            }
            (Value::Array(one), Value::Array(other)) => {
                if one.len() != other.len() {
                    return Ok(false);
                }
                self.enter()?;
                for (one, other) in one.iter().zip(other) {
                    if !self.equal(one, other)? {
                        self.leave();
                        return Ok(false);
                    }
                }
                self.leave();
                true
            }
            (Value::Object(one), Value::Object(other)) => {
                if one.len() != other.len() {
                    return Ok(false);
                }
                self.enter()?;
                for (name, one) in one {
                    self.charge(1 + name.len() as u64 / 64)?;
                    let is_equal = match other.get(name) {
                        Some(other) => self.equal(one, other)?,
                        None => false,
                    };
                    if !is_equal {
                        self.leave();
                        return Ok(false);
                    }
                }
                self.leave();
                true
            }
            (Value::Null, Value::Null) => true,
            (Value::Bool(one), Value::Bool(other)) => one == other,
            _ => false,
        })
    }

    /// Returns the indexes of two equal items. Sorts hashes instead of comparing pairs; the hasher is randomly seeded, so
    /// collisions cannot be prepared.
    pub(super) fn duplicates(&mut self, items: &[Value]) -> Result<Option<(usize, usize)>, OverBudget> {
        if items.len() < 2 {
            return Ok(None);
        }
        let state = RandomState::new();
        let mut hashes = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            // Sorting costs a logarithmic factor; 4 covers every array that fits a message.
            self.charge(4)?;
            let mut hasher = state.build_hasher();
            self.hash(item, &state, &mut hasher)?;
            hashes.push((hasher.finish(), at));
        }
        hashes.sort_unstable();
        for same in hashes.chunk_by(|one, other| one.0 == other.0) {
            for (at, (_, one)) in same.iter().enumerate() {
                for (_, other) in &same[at + 1..] {
                    if self.equal(&items[*one], &items[*other])? {
                        return Ok(Some((*one, *other)));
                    }
                }
            }
        }
        Ok(None)
    }

    fn hash(
        &mut self,
        value: &Value,
        state: &RandomState,
        hasher: &mut impl Hasher,
    ) -> Result<(), OverBudget> {
        self.charge(1)?;
        match value {
            Value::Null => 0_u8.hash(hasher),
            Value::Bool(value) => (1_u8, value).hash(hasher),
            Value::Number(number) => (2_u8, number::normal(number)).hash(hasher),
            Value::String(text) => {
                self.charge(text.len() as u64 / 32)?;
                (3_u8, text).hash(hasher);
            }
            Value::Array(items) => {
                (4_u8, items.len()).hash(hasher);
                self.enter()?;
                for item in items {
                    self.hash(item, state, hasher)?;
                }
                self.leave();
            }
            Value::Object(members) => {
                (5_u8, members.len()).hash(hasher);
                self.enter()?;
                // The order of members is irrelevant, so their hashes are added.
                let mut sum = 0_u64;
                for (name, member) in members {
                    self.charge(1 + name.len() as u64 / 32)?;
                    let mut inner = state.build_hasher();
                    name.hash(&mut inner);
                    self.hash(member, state, &mut inner)?;
                    sum = sum.wrapping_add(inner.finish());
                }
                sum.hash(hasher);
                self.leave();
            }
        }
        Ok(())
    }
}

/// Compares two values of a schema without charging: the size of a schema is bounded.
pub(super) fn values_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => number::equal(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| values_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let is_same = |(name, one): (&String, &Value)| {
                other.get(name).is_some_and(|other| values_equal(one, other))
            };
            one.len() == other.len() && one.iter().all(is_same)
        }
        _ => one == other,
    }
}
