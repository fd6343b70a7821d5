//! Digests of tokens, the keys of the caches: the tag of AES-128-GCM over the token, under a key of this process.
//!
//! Nobody sees a digest, so it only has to be unpredictable: two tokens have the same one with a chance of 2^-118. SHA-256
//! takes several times as many instructions on a processor without one of its own for it. The nonce is always the same,
//! which is safe only because the encrypted token is thrown away and no tag leaves this file and its caches. The token is
//! the plaintext and not the additional data, which *ring* hashes block by block: 7,000 instructions for 1 kB.

use std::fmt;

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

/// Computes digests of tokens.
pub(crate) struct TokenHasher {
    key: LessSafeKey,
}

/// The digest of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenDigest([u8; 16]);

impl TokenHasher {
    /// Returns a hasher with a random key.
    pub(crate) fn new() -> Self {
        let mut key = [0; 16];
        SystemRandom::new().fill(&mut key).expect("the system's random generator works");
        let key = UnboundKey::new(&AES_128_GCM, &key).expect("the key has 16 bytes");
        Self { key: LessSafeKey::new(key) }
    }

    /// Returns the digest of a token.
    pub(crate) fn digest(&self, token: &str) -> TokenDigest {
        let nonce = Nonce::assume_unique_for_key([0; 12]);
        let mut text = token.as_bytes().to_vec();
        let tag = self
            .key
            .seal_in_place_separate_tag(nonce, Aad::empty(), &mut text)
            .expect("no token is longer than a message of AES-GCM");
        TokenDigest(tag.as_ref().try_into().expect("the tag of AES-GCM has 16 bytes"))
    }
}

impl fmt::Debug for TokenHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHasher(••••)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn tokens_differ_by_their_digest_and_processes_by_their_key() {
        let hasher = TokenHasher::new();
        let digest = |token: &str| hasher.digest(token);
        let token = "x".repeat(1000);
        let mut digests = HashSet::from([digest(""), digest(&token)]);
        assert!(digest(&token) == digest(&token.clone()));
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] ^= 1;
            assert!(digests.insert(digest(&String::from_utf8(changed).unwrap())), "{at}");
            assert!(digests.insert(digest(&token[..at.max(1)])) || at < 2, "{at}");
        }
        assert!(TokenHasher::new().digest(&token) != digest(&token));
    }
}
