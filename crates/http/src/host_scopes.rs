//! The network scopes of hosts: where a host was found when it was last connected to or resolved.
//!
//! Invariant: within [`MEMORY`] the scope of a host only moves outwards, so a host that has been global does not become private
//! by another answer of its name server.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::network_scope::NetworkScope;

/// How long a scope is kept: a machine may move into another network.
const MEMORY: Duration = Duration::from_secs(600);
/// The most hosts that are kept. Further ones count as global.
const MAX_HOSTS: usize = 1024;

/// The scopes of the hosts that a client has reached.
#[derive(Default)]
pub(crate) struct HostScopes {
    // Held for a lookup, never across an await.
    known: Mutex<HashMap<String, (NetworkScope, Instant)>>,
}

impl HostScopes {
    /// Returns the scope of a host, if it is known.
    pub(crate) fn get(&self, host: &str) -> Option<NetworkScope> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(host).filter(|(_, since)| since.elapsed() < MEMORY).map(|(scope, _)| *scope)
    }

    /// Records where a host was found, and returns the scope that counts.
    pub(crate) fn record(&self, host: &str, found: NetworkScope) -> NetworkScope {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|_, (_, since)| since.elapsed() < MEMORY);
        if let Some((scope, _)) = known.get_mut(host) {
            *scope = outermost(*scope, found);
            return *scope;
        }
        if known.len() >= MAX_HOSTS {
            return NetworkScope::Global;
        }
        known.insert(host.to_owned(), (found, Instant::now()));
        found
    }
}

/// Returns the scope that is further outside. A special address says nothing about a host.
pub(crate) fn outermost(one: NetworkScope, other: NetworkScope) -> NetworkScope {
    match (one, other) {
        (NetworkScope::Special, _) | (_, NetworkScope::Special) => NetworkScope::Global,
        _ => one.min(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network_scope::NetworkScope::{Global, Loopback, Private, Special};

    #[test]
    fn a_scope_only_moves_outwards() {
        let scopes = HostScopes::default();
        assert_eq!(scopes.get("a"), None);
        assert_eq!(scopes.record("a", Loopback), Loopback);
        assert_eq!(scopes.record("a", Private), Private);
        assert_eq!(scopes.record("a", Loopback), Private);
        assert_eq!(scopes.record("b", Private), Private);
        assert_eq!(scopes.record("b", Special), Global);
        assert_eq!((scopes.get("a"), scopes.get("b")), (Some(Private), Some(Global)));
    }

    #[test]
    fn hosts_beyond_the_limit_count_as_global() {
        let scopes = HostScopes::default();
        for number in 0..MAX_HOSTS {
            scopes.record(&number.to_string(), Private);
        }
        assert_eq!(scopes.record("one more", Private), Global);
        assert_eq!(scopes.record("7", Private), Private);
    }
}
