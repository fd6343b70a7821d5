//! Keys of buckets.

use std::fmt;

use switchboard_protocol::Raw;

/// The key of a bucket: the limit, and the parts by which it is divided. Two different requests never share a key by
/// accident, and the key is the same in every replica.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BucketKey(Box<str>);

impl BucketKey {
    /// Creates a key. A part that the limit does not divide by is `None`.
    pub(super) fn new(limit: &str, parts: &[Option<&str>]) -> Self {
        // As JSON: no part can contain the separator.
        let text = Raw::encode(&(limit, parts)).expect("texts can be written as JSON");
        Self(text.as_str().into())
    }

    /// Returns the key as text, for a shared store.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for BucketKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BucketKey").field(&self.0).finish()
    }
}
