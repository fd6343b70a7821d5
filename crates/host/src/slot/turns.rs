//! How many calls run on one server at a time. Those beyond wait their turn, and those beyond these are refused: a
//! server that is slow must not gather calls without end.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Calls that may wait.
const QUEUE: usize = 256;

/// The turns of one server.
///
/// Invariant: whoever comes while others wait waits behind them, so that none is passed over for ever.
#[derive(Debug)]
pub(crate) struct Turns {
    most: usize,
    running: AtomicUsize,
    waiting: AtomicUsize,
    freed: Notify,
}

/// Too many calls run and wait already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Busy;

/// A turn. Given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a>(&'a Turns);

impl Turns {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, running: AtomicUsize::new(0), waiting: AtomicUsize::new(0), freed: Notify::new() }
    }

    /// A turn, now or when it comes.
    #[inline]
    pub(crate) async fn take(&self) -> Result<Turn<'_>, Busy> {
        match self.waiting.load(Ordering::SeqCst) {
            0 if self.is_free() => Ok(Turn(self)),
            _ => Box::pin(self.wait()).await,
        }
    }

    /// Whether there was a turn; it is then taken.
    #[inline]
    fn is_free(&self) -> bool {
        if self.running.fetch_add(1, Ordering::SeqCst) < self.most {
            return true;
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
        false
    }

    async fn wait(&self) -> Result<Turn<'_>, Busy> {
        let waiting = Waiting::new(&self.waiting);
        if waiting.place >= QUEUE {
            return Err(Busy);
        }
        loop {
            // Listening before looking: a turn that is given back in between is not missed.
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            if self.is_free() {
                return Ok(Turn(self));
            }
            freed.await;
        }
    }
}

impl Drop for Turn<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        if self.0.waiting.load(Ordering::SeqCst) > 0 {
            self.0.freed.notify_one();
        }
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
