//! Typed values that a transport attaches to a request for its handler, at most one of each type.

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::Arc;

/// Typed values attached to a request, at most one of each type. Cheap to clone; allocates nothing when empty.
#[derive(Clone, Default)]
pub struct Extensions {
    // A vector: with few values a linear search is faster than a map.
    values: Vec<(TypeId, &'static str, Arc<dyn Any + Send + Sync>)>,
}

impl Extensions {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value, replacing the one of its type.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.insert(value);
        self
    }

    /// Adds a value, replacing the one of its type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        let of = TypeId::of::<T>();
        self.values.retain(|(known, ..)| *known != of);
        self.values.push((of, type_name::<T>(), Arc::new(value)));
    }

    /// Returns the value of this type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.find(TypeId::of::<T>())?.downcast_ref()
    }

    /// Returns the value of the type with this id.
    pub fn find(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        self.values.iter().find(|(known, ..)| *known == of).map(|(.., value)| &**value)
    }

    /// Returns whether both hold the same values, compared by identity.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let same = |one: &Arc<dyn Any + Send + Sync>, two: &Arc<dyn Any + Send + Sync>| Arc::ptr_eq(one, two);
        self.values.len() == other.values.len()
            && self.values.iter().zip(&other.values).all(|(one, two)| one.0 == two.0 && same(&one.2, &two.2))
    }

    /// Returns whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only the types: the values may be secret.
        f.debug_set().entries(self.values.iter().map(|(_, name, _)| name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_of_each_type_is_kept() {
        let mut extensions = Extensions::new().with(1_u8).with("one");
        extensions.insert(2_u8);
        assert_eq!((extensions.get::<u8>(), extensions.get::<&str>()), (Some(&2), Some(&"one")));
        assert_eq!(extensions.get::<u16>(), None);
        assert!(!format!("{extensions:?}").contains("one"));
    }
}
