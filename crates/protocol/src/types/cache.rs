//! How long a result stays fresh, and for whom (from 2026-07-28).
//!
//! Hints only: what is missing or makes no sense counts as no hint. Keeps no cache itself.

use crate::wire::{string_enum, wire};

/// Who may share a cached result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheScope {
    /// Anyone.
    Public,
    /// Only the caller with the same authorization.
    Private,
}

string_enum!(CacheScope: Public "public", Private "private");

/// The caching hints of a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheHints {
    /// How many milliseconds the result stays fresh.
    pub ttl_ms: Option<u64>,
    /// Who may share it.
    pub cache_scope: Option<CacheScope>,
}

wire!(CacheHints: whole_number ttl_ms "ttlMs"; lenient cache_scope "cacheScope";);

impl CacheHints {
    /// Fresh for `ttl_ms` milliseconds, for `scope`.
    pub const fn new(ttl_ms: u64, scope: CacheScope) -> Self {
        Self { ttl_ms: Some(ttl_ms), cache_scope: Some(scope) }
    }
}

/// The `hints()` and `with_hints()` of results that carry the two fields.
macro_rules! cacheable {
    ($($type:ident),+ $(,)?) => {$(
        impl $type {
            /// The caching hints, as one value.
            pub fn hints(&self) -> $crate::types::cache::CacheHints {
                let mut hints = $crate::types::cache::CacheHints::default();
                hints.ttl_ms = self.ttl_ms;
                hints.cache_scope = self.cache_scope;
                hints
            }

            /// The same with other caching hints.
            #[must_use]
            pub fn with_hints(mut self, hints: $crate::types::cache::CacheHints) -> Self {
                self.set_hints(hints);
                self
            }

            /// Replaces the caching hints.
            pub fn set_hints(&mut self, hints: $crate::types::cache::CacheHints) {
                self.ttl_ms = hints.ttl_ms;
                self.cache_scope = hints.cache_scope;
            }
        }
    )+};
}

pub(crate) use cacheable;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_no_hint() {
        for text in ["{}", r#"{"ttlMs":-1,"cacheScope":"shared"}"#, r#"{"ttlMs":"1","cacheScope":null}"#] {
            assert_eq!(serde_json::from_str::<CacheHints>(text).unwrap(), CacheHints::default(), "{text}");
        }
        let text = r#"{"ttlMs":0,"cacheScope":"private"}"#;
        let hints: CacheHints = serde_json::from_str(text).unwrap();
        assert_eq!(hints, CacheHints::new(0, CacheScope::Private));
        assert_eq!(serde_json::to_string(&hints).unwrap(), text);
    }
}
