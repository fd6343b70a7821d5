//! A token bucket: refilled at a rate, up to its burst.

use std::time::Duration;

use tokio::time::Instant;

/// The rate and the size of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketRate {
    /// The number of tokens of a full bucket.
    burst: u32,
    /// The time in which one token is added.
    interval: Duration,
}

impl BucketRate {
    /// Creates a rate of `count` requests per `period`, with bursts of up to `burst` requests. Each is at least 1, and
    /// a token takes at least a microsecond.
    pub fn new(count: u32, period: Duration, burst: u32) -> Self {
        let interval = (period / count.max(1)).max(Duration::from_micros(1));
        Self { burst: burst.max(1), interval }
    }

    /// Returns the number of tokens of a full bucket.
    pub fn burst(&self) -> u32 {
        self.burst
    }

    /// Returns the time in which one token is added.
    pub fn interval(&self) -> Duration {
        self.interval
    }
}

impl std::fmt::Display for BucketRate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "one request every {:?}, bursts of {}", self.interval, self.burst)
    }
}

/// The state of a bucket as one instant: when it will be full (the generic cell rate algorithm). A bucket that was
/// never used is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenBucket {
    full_at: Instant,
}

impl TokenBucket {
    /// Creates a full bucket.
    pub(super) fn full(now: Instant) -> Self {
        Self { full_at: now }
    }

    /// Returns when the bucket is full again.
    pub(super) fn full_at(&self) -> Instant {
        self.full_at
    }

    /// Returns the bucket at this rate: if it was emptied at another one, it lacks at most `burst` tokens of this one.
    pub(super) fn adapted(&self, rate: &BucketRate, now: Instant) -> Self {
        Self { full_at: self.full_at.min(now + rate.interval * rate.burst) }
    }

    /// Returns the bucket after tokens were taken, or the time until there are as many. There are never more than `burst`.
    pub(super) fn take(&self, tokens: u32, rate: &BucketRate, now: Instant) -> Result<Self, Duration> {
        let full_at = self.full_at.max(now) + rate.interval.saturating_mul(tokens);
        // After the take the bucket may lack at most `burst` tokens.
        let latest = now + rate.interval * rate.burst;
        if full_at <= latest { Ok(Self { full_at }) } else { Err(full_at - latest) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let rate = BucketRate::new(10, Duration::from_secs(1), 3);
        let start = Instant::now();
        let mut bucket = TokenBucket::full(start);
        for _ in 0..3 {
            bucket = bucket.take(1, &rate, start).unwrap();
        }
        assert_eq!(bucket.take(1, &rate, start), Err(Duration::from_millis(100)));
        let later = start + Duration::from_millis(100);
        bucket = bucket.take(1, &rate, later).unwrap();
        assert_eq!(bucket.take(1, &rate, later), Err(Duration::from_millis(100)));
        assert!(bucket.take(1, &rate, start + Duration::from_secs(60)).is_ok());
    }

    #[test]
    fn several_tokens_are_taken_together_or_not_at_all() {
        let rate = BucketRate::new(10, Duration::from_secs(1), 3);
        let start = Instant::now();
        let bucket = TokenBucket::full(start).take(2, &rate, start).unwrap();
        assert_eq!(bucket.take(2, &rate, start), Err(Duration::from_millis(100)));
        assert!(bucket.take(1, &rate, start).is_ok(), "the refused request has taken nothing");
        assert!(TokenBucket::full(start).take(4, &rate, start).is_err(), "there are never more than three");
    }

    proptest! {
        #[test]
        fn no_window_has_more_than_burst_and_rate(
            burst in 1u32..10,
            steps in proptest::collection::vec(0u64..300, 1..200),
        ) {
            let rate = BucketRate::new(10, Duration::from_secs(1), burst);
            let start = Instant::now();
            let (mut bucket, mut now, mut taken) = (TokenBucket::full(start), start, Vec::new());
            for step in steps {
                now += Duration::from_millis(step);
                match bucket.take(1, &rate, now) {
                    Ok(after) => {
                        bucket = after;
                        taken.push(now);
                    }
                    Err(wait) => prop_assert!(bucket.take(1, &rate, now + wait).is_ok(), "the reset time is right"),
                }
            }
            for (at, from) in taken.iter().enumerate() {
                for (to, until) in taken.iter().enumerate().skip(at) {
                    let allowed = u128::from(burst) + (*until - *from).as_millis() / 100;
                    prop_assert!(((to - at) as u128) < allowed);
                }
            }
        }
    }
}
