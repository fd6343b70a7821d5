//! Caching hints of results: time to live and scope (from 2026-07-28).
//!
//! Missing and invalid values count as no hint. The cache itself is not here.

use crate::wire::{string_enum, wire};

/// Who may share a cached result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheScope {
    /// All users.
    Public,
    /// Only the caller with the same authorization.
    Private,
}

string_enum!(CacheScope: Public "public", Private "private");

/// The caching hints of a result.
///
/// ```
/// use switchboard::protocol::{CacheHints, CacheScope, ListToolsResult};
///
/// let page = ListToolsResult::new([]).with_hints(CacheHints::new(60_000, CacheScope::Public));
/// assert_eq!(page.hints().ttl_ms, Some(60_000));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheHints {
    /// How long the result may be cached, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Who may share the cached result.
    pub cache_scope: Option<CacheScope>,
}

wire!(CacheHints: whole_number ttl_ms "ttlMs"; lenient cache_scope "cacheScope";);

impl CacheHints {
    /// Creates hints with a time to live in milliseconds and a scope.
    pub const fn new(ttl_ms: u64, scope: CacheScope) -> Self {
        Self { ttl_ms: Some(ttl_ms), cache_scope: Some(scope) }
    }
}

/// Implements `hints`, `with_hints` and `set_hints` for results with the two fields.
macro_rules! cacheable {
    ($($type:ident),+ $(,)?) => {$(
        impl $type {
            /// Returns the caching hints.
            pub fn hints(&self) -> $crate::types::cache::CacheHints {
                let mut hints = $crate::types::cache::CacheHints::default();
                hints.ttl_ms = self.ttl_ms;
                hints.cache_scope = self.cache_scope;
                hints
            }

            /// Sets the caching hints.
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
    fn invalid_hints_are_ignored() {
        for text in ["{}", r#"{"ttlMs":-1,"cacheScope":"shared"}"#, r#"{"ttlMs":"1","cacheScope":null}"#] {
            assert_eq!(serde_json::from_str::<CacheHints>(text).unwrap(), CacheHints::default(), "{text}");
        }
        let text = r#"{"ttlMs":0,"cacheScope":"private"}"#;
        let hints: CacheHints = serde_json::from_str(text).unwrap();
        assert_eq!(hints, CacheHints::new(0, CacheScope::Private));
        assert_eq!(serde_json::to_string(&hints).unwrap(), text);
    }
}
