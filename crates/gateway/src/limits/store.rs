//! The interface of stores of buckets.

use std::time::Duration;

use switchboard_session::link::BoxFuture;

use super::bucket::BucketRate;
use super::key::BucketKey;

/// A bucket that a request takes a token from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BucketRequest {
    /// The key.
    pub key: BucketKey,
    /// The rate and size.
    pub rate: BucketRate,
}

impl BucketRequest {
    /// Creates a request.
    pub fn new(key: BucketKey, rate: BucketRate) -> Self {
        Self { key, rate }
    }
}

/// The outcome of taking a token from several buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TakeOutcome {
    /// A token was taken from each bucket.
    Taken,
    /// A bucket is empty; nothing was taken.
    Refused {
        /// The index of the bucket with the longest wait.
        bucket: usize,
        /// The time until a token is there.
        retry_after: Duration,
    },
    /// The store cannot keep another bucket; nothing was taken.
    Full {
        /// The time until a bucket can be forgotten.
        retry_after: Duration,
    },
}

/// Keeps token buckets. An engine that several replicas share implements it with its own clock.
pub trait LimitStore: Send + Sync + 'static {
    /// Takes one token from every bucket, or from none. The buckets have different keys.
    fn take<'a>(&'a self, buckets: &'a [BucketRequest]) -> BoxFuture<'a, TakeOutcome>;
}
