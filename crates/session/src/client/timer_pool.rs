//! A pool of timers for calls: creating a timer for every call would cost more than the call's entry in the table.
//!
//! A timer may fire early, never late: a reused timer keeps its earlier deadline, and the caller that it wakes checks its
//! own deadline and resets the timer.

use std::pin::Pin;
use std::task::{Context, Poll};

use parking_lot::Mutex;
use tokio::runtime::{Handle, Id};
use tokio::time::{Instant, Sleep, sleep_until};

/// The idle timers of one session.
#[derive(Debug, Default)]
pub(crate) struct TimerPool {
    // Held for a push or a pop, never across an await.
    idle: Mutex<Vec<(Id, Pin<Box<Sleep>>)>>,
}

/// Idle timers kept.
const MAX_IDLE: usize = 64;

impl TimerPool {
    /// Returns a timer that fires at this time or earlier.
    pub(crate) fn acquire(&self, at: Instant) -> PooledTimer<'_> {
        // A timer belongs to its runtime and is useless after it.
        let runtime = Handle::current().id();
        let idle = self.idle.lock().pop().filter(|(of, _)| *of == runtime);
        let mut timer = match idle {
            Some((_, sleep)) => PooledTimer { pool: self, runtime, sleep: Some(sleep) },
            None => PooledTimer { pool: self, runtime, sleep: Some(Box::pin(sleep_until(at))) },
        };
        if timer.sleep.as_ref().is_some_and(|sleep| sleep.deadline() > at) {
            timer.reset(at);
        }
        timer
    }
}

/// A running timer, which returns to its pool when dropped.
#[derive(Debug)]
pub(crate) struct PooledTimer<'a> {
    pool: &'a TimerPool,
    runtime: Id,
    /// `None` only during `drop`.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl PooledTimer<'_> {
    /// Resets the timer to exactly this time.
    pub(crate) fn reset(&mut self, at: Instant) {
        if let Some(sleep) = &mut self.sleep {
            sleep.as_mut().reset(at);
        }
    }

    /// Ready when the timer has fired.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().poll(cx),
            None => Poll::Ready(()),
        }
    }
}

impl Drop for PooledTimer<'_> {
    fn drop(&mut self) {
        let mut idle = self.pool.idle.lock();
        if let Some(sleep) = self.sleep.take()
            && idle.len() < MAX_IDLE
        {
            idle.push((self.runtime, sleep));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_reused_timer_never_fires_late() {
        let pool = TimerPool::default();
        let start = Instant::now();
        drop(pool.acquire(start + 5 * SECOND));
        for (wanted, fires) in [(2, 2), (3, 2), (1, 1)] {
            let mut timer = pool.acquire(start + wanted * SECOND);
            poll_fn(|cx| timer.poll(cx)).await;
            assert!(Instant::now() >= start + fires * SECOND, "{wanted}");
            timer.reset(start + wanted * SECOND);
            poll_fn(|cx| timer.poll(cx)).await;
            assert!(Instant::now() >= start + wanted * SECOND, "{wanted}");
        }
        assert_eq!(pool.idle.lock().len(), 1);
    }

    #[test]
    fn a_timer_of_an_ended_runtime_is_not_reused() {
        let pool = TimerPool::default();
        for _ in 0..2 {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(async {
                let mut timer = pool.acquire(Instant::now() + Duration::from_millis(1));
                poll_fn(|cx| timer.poll(cx)).await;
            });
        }
    }
}
