//! How many calls run on one server at a time. Those beyond wait their turn, and those beyond these are refused: a
//! server that is slow must not gather calls without end.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

/// Calls that may wait.
const QUEUE: usize = 256;

/// The turns of one server.
#[derive(Debug)]
pub(crate) struct Turns {
    running: Semaphore,
    waiting: AtomicUsize,
}

/// Too many calls run and wait already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

impl Turns {
    pub(crate) fn new(most: usize) -> Self {
        Self { running: Semaphore::new(most), waiting: AtomicUsize::new(0) }
    }

    /// A turn, now or when it comes. Taken back when it is dropped.
    pub(crate) async fn take(&self) -> Result<SemaphorePermit<'_>, Busy> {
        match self.running.try_acquire() {
            Ok(turn) => Ok(turn),
            Err(_) => Box::pin(self.wait()).await,
        }
    }

    async fn wait(&self) -> Result<SemaphorePermit<'_>, Busy> {
        let waiting = Waiting::new(&self.waiting);
        if waiting.place >= QUEUE {
            return Err(Busy);
        }
        // Never closed.
        self.running.acquire().await.map_err(|_| Busy)
    }
}

/// One who waits; counted until it is dropped.
struct Waiting<'a> {
    count: &'a AtomicUsize,
    place: usize,
}

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        Self { count, place: count.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn so_many_run_so_many_wait_and_the_rest_is_refused() {
        let turns = Arc::new(Turns::new(2));
        let first = turns.take().await.unwrap();
        let _second = turns.take().await.unwrap();
        let waiting: Vec<_> = (0..QUEUE)
            .map(|_| {
                let turns = Arc::clone(&turns);
                tokio::spawn(async move { turns.take().await.map(drop) })
            })
            .collect();
        while turns.waiting.load(Ordering::Relaxed) < QUEUE {
            tokio::task::yield_now().await;
        }
        assert_eq!(turns.take().await.err(), Some(Busy));
        // One who gives up makes room for another.
        waiting[0].abort();
        while turns.waiting.load(Ordering::Relaxed) == QUEUE {
            tokio::task::yield_now().await;
        }
        drop(first);
        for turn in waiting.into_iter().skip(1) {
            assert_eq!(turn.await.unwrap(), Ok(()));
        }
        assert_eq!(turns.waiting.load(Ordering::Relaxed), 0);
    }
}
