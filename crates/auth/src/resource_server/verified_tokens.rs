//! Cache of verified tokens, read with every request.
//!
//! Invariants: a hit is a token with the same bytes, which are compared without an early exit. Tokens are overwritten when
//! they are dropped, and are not printed.
//!
//! A token is found by its fingerprint: a fast hash of its length and its end, which in a JWT is the signature. The
//! fingerprint proves nothing, it only selects the token to compare with, so a cryptographic digest of the whole token is
//! not needed: AES-GCM took 3,300 instructions for 1 kB, this takes about 800. Two tokens with the same fingerprint
//! replace each other and are verified more often. The tokens take little more memory than their claims, which are kept
//! anyway.

use std::hash::BuildHasher;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use foldhash::quality::RandomState;
use switchboard_http::Secret;

use crate::resource_server::token_cache::TokenCache;

/// The outcomes of successful verifications, by token.
pub(crate) struct VerifiedTokens<V> {
    seed: RandomState,
    tokens: TokenCache<u64, Arc<KnownToken<V>>>,
}

struct KnownToken<V> {
    token: Secret,
    value: V,
}

/// How many bytes at the end of a token its fingerprint covers.
const FINGERPRINT_BYTES: usize = 64;

impl<V: Clone> VerifiedTokens<V> {
    /// Returns an empty cache of so many tokens, which live for so long.
    pub(crate) fn new(capacity: usize, max_lifetime: Duration) -> Self {
        Self { seed: RandomState::default(), tokens: TokenCache::new(capacity, max_lifetime) }
    }

    /// Returns the value of a token.
    pub(crate) fn get(&self, token: &str) -> Option<V> {
        let known = self.tokens.get(self.fingerprint(token))?;
        has_same_bytes(known.token.expose(), token).then(|| known.value.clone())
    }

    /// Adds a token that remains valid for this long.
    pub(crate) fn insert(&self, token: &str, value: V, remaining: Option<Duration>) {
        let known = KnownToken { token: Secret::new(token), value };
        self.tokens.insert(self.fingerprint(token), Arc::new(known), remaining);
    }

    fn fingerprint(&self, token: &str) -> u64 {
        let start = token.len().saturating_sub(FINGERPRINT_BYTES);
        self.seed.hash_one((token.len(), &token.as_bytes()[start..]))
    }
}

/// Compares two tokens, in the same time for all tokens of one length: whoever knows the end of a token must not be able to
/// guess the rest of it byte by byte. Not with `subtle`, which compares single bytes; this is compiled to vector instructions.
fn has_same_bytes(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    let difference = pairs.fold(0, |difference, (one, other)| difference | (one ^ other));
    one.len() == other.len() && black_box(difference) == 0
}

impl<V> std::fmt::Debug for VerifiedTokens<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VerifiedTokens").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_a_token_with_the_same_bytes_is_found() {
        let tokens = VerifiedTokens::new(10_000, Duration::from_secs(60));
        let token = "x".repeat(1000);
        tokens.insert(&token, "ada", None);
        assert_eq!(tokens.get(&token.clone()), Some("ada"));
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] ^= 1;
            assert_eq!(tokens.get(&String::from_utf8(changed).unwrap()), None, "{at}");
            assert_eq!(tokens.get(&token[..at]), None, "{at}");
        }
    }

    #[tokio::test]
    async fn a_token_with_the_fingerprint_of_another_one_is_not_found() {
        let tokens = VerifiedTokens::new(10, Duration::from_secs(60));
        let known = |token| Arc::new(KnownToken { token: Secret::new(token), value: "ada" });
        for (kept, sent) in [("of-ada", "of-eve"), ("of-ada", "of-ada-"), ("of-ada", "of-ad"), ("of-ada", "")]
        {
            tokens.tokens.insert(tokens.fingerprint(sent), known(kept), None);
            assert_eq!(tokens.get(sent), None, "{sent}");
        }
        tokens.tokens.insert(tokens.fingerprint("of-ada"), known("of-ada"), None);
        assert_eq!(tokens.get("of-ada"), Some("ada"));
    }
}
