//! The interface of stores of buckets.

use std::time::Duration;

use switchboard_session::link::BoxFuture;

use super::bucket::BucketRate;
use super::key::BucketKey;

/// A bucket that a request takes tokens from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BucketRequest {
    /// The key.
    pub key: BucketKey,
    /// The rate and size.
    pub rate: BucketRate,
    /// The number of tokens; at least 1, and not more than the burst of the rate.
    pub tokens: u32,
}

impl BucketRequest {
    /// Creates a request for one token.
    pub fn new(key: BucketKey, rate: BucketRate) -> Self {
        Self { key, rate, tokens: 1 }
    }

    /// Sets the number of tokens.
    #[must_use]
    pub fn with_tokens(mut self, tokens: u32) -> Self {
        self.tokens = tokens.max(1);
        self
    }
}

/// The outcome of taking tokens from several buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TakeOutcome {
    /// The tokens were taken from each bucket.
    Taken,
    /// A bucket has too few tokens; nothing was taken.
    Refused {
        /// The index of the bucket with the longest wait.
        bucket: usize,
        /// The time until the tokens are there.
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
    /// Takes the tokens of every bucket, or none. The buckets have different keys.
    fn take<'a>(&'a self, buckets: &'a [BucketRequest]) -> BoxFuture<'a, TakeOutcome>;
}
