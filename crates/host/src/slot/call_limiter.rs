//! Limits concurrent calls of one server. Further calls are queued, and rejected when the queue is full: a slow server must
//! not accumulate calls without bound.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The length limit of the queue.
const MAX_QUEUED: usize = 256;

/// The call limit of one server: a FIFO semaphore with a bounded queue.
///
/// Invariant: a call that arrives while others are queued is queued behind them, so none starves.
#[derive(Debug)]
pub(crate) struct CallLimiter {
    limit: usize,
    running: AtomicUsize,
    queued: AtomicUsize,
    freed: Notify,
}

/// The queue is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

/// A permit to run one call; released on drop.
#[derive(Debug)]
pub(crate) struct CallPermit<'a>(&'a CallLimiter);

impl CallLimiter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, running: AtomicUsize::new(0), queued: AtomicUsize::new(0), freed: Notify::new() }
    }

    /// Returns the number of calls under way, and of those that wait.
    pub(crate) fn load(&self) -> (usize, usize) {
        let running = self.running.load(Ordering::Relaxed).min(self.limit);
        (running, self.queued.load(Ordering::Relaxed))
    }

    /// Acquires a permit; waits in the queue while all are taken.
    #[inline]
    pub(crate) async fn acquire(&self) -> Result<CallPermit<'_>, Busy> {
        match self.queued.load(Ordering::SeqCst) {
            0 if self.try_acquire() => Ok(CallPermit(self)),
            _ => Box::pin(self.wait()).await,
        }
    }

    /// Acquires a permit without waiting.
    #[inline]
    fn try_acquire(&self) -> bool {
        if self.running.fetch_add(1, Ordering::SeqCst) < self.limit {
            return true;
        }
        self.release();
        false
    }

    /// Also undoes a failed `try_acquire`: a call that saw no permit meanwhile must look again.
    #[inline]
    fn release(&self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
        if self.queued.load(Ordering::SeqCst) > 0 {
            self.freed.notify_one();
        }
    }

    async fn wait(&self) -> Result<CallPermit<'_>, Busy> {
        let queued = QueuedCall::new(&self.queued);
        if queued.position >= MAX_QUEUED {
            return Err(Busy);
        }
        loop {
            // Registers before the check, so a permit released in between is not missed.
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            // Checks before incrementing, so queued calls do not wake each other in a loop.
            if self.running.load(Ordering::SeqCst) < self.limit && self.try_acquire() {
                return Ok(CallPermit(self));
            }
            freed.await;
        }
    }
}

impl Drop for CallPermit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.release();
    }
}

/// A queued call; counted until it is dropped.
struct QueuedCall<'a> {
    count: &'a AtomicUsize,
    position: usize,
}

impl<'a> QueuedCall<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        Self { count, position: count.fetch_add(1, Ordering::SeqCst) }
    }
}

impl Drop for QueuedCall<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn calls_beyond_the_limit_are_queued_and_then_rejected() {
        let limiter = Arc::new(CallLimiter::new(2));
        let first = limiter.acquire().await.unwrap();
        let _second = limiter.acquire().await.unwrap();
        let queued: Vec<_> = (0..MAX_QUEUED)
            .map(|_| {
                let limiter = Arc::clone(&limiter);
                tokio::spawn(async move { limiter.acquire().await.map(drop) })
            })
            .collect();
        while limiter.queued.load(Ordering::Relaxed) < MAX_QUEUED {
            tokio::task::yield_now().await;
        }
        assert_eq!(limiter.acquire().await.err(), Some(Busy));
        // A cancelled call makes room for another.
        queued[0].abort();
        while limiter.queued.load(Ordering::Relaxed) == MAX_QUEUED {
            tokio::task::yield_now().await;
        }
        drop(first);
        for turn in queued.into_iter().skip(1) {
            assert_eq!(turn.await.unwrap(), Ok(()));
        }
        assert_eq!(limiter.queued.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn no_permit_is_lost_or_issued_twice() {
        let limiter = Arc::new(CallLimiter::new(3));
        let (inside, limit) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..64)
            .map(|n| {
                let (limiter, inside, limit) =
                    (Arc::clone(&limiter), Arc::clone(&inside), Arc::clone(&limit));
                tokio::spawn(async move {
                    for round in 0..200 {
                        if (n + round) % 7 == 0 {
                            // Cancelled while queued.
                            let _ = tokio::time::timeout(std::time::Duration::ZERO, limiter.acquire()).await;
                            continue;
                        }
                        let _turn = limiter.acquire().await.unwrap();
                        limit.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        tokio::task::yield_now().await;
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(limit.load(Ordering::SeqCst), 3);
        assert_eq!(limiter.running.load(Ordering::SeqCst), 0);
    }
}
