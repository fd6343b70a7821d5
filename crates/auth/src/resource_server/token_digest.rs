//! Digests of rejected tokens, the keys of their cache. Anybody can send a token of 16 KiB, so none of them is kept.

use ring::digest::{SHA256, digest};

/// The SHA-256 of a token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// Returns the digest of a token.
    pub(crate) fn of(token: &str) -> Self {
        let digest = digest(&SHA256, token.as_bytes());
        Self(digest.as_ref().try_into().expect("SHA-256 has 32 bytes"))
    }
}
