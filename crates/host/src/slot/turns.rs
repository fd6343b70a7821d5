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
        self.give_back();
        false
    }

    /// Also where one too many was counted for a moment: whoever looked meanwhile saw no turn, and must look again.
    #[inline]
    fn give_back(&self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.freed.notify_one();
        }
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
            // Counted only if there seems to be one: those who wait must not wake each other in turn.
            if self.running.load(Ordering::SeqCst) < self.most && self.is_free() {
                return Ok(Turn(self));
            }
            freed.await;
        }
    }
}

impl Drop for Turn<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.give_back();
    }
}

/// One who waits; counted until it is dropped.
struct Waiting<'a> {
    count: &'a AtomicUsize,
    place: usize,
}

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        Self { count, place: count.fetch_add(1, Ordering::SeqCst) }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::SeqCst);
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

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn no_turn_is_lost_and_none_is_given_twice() {
        let turns = Arc::new(Turns::new(3));
        let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..64)
            .map(|n| {
                let (turns, inside, most) = (Arc::clone(&turns), Arc::clone(&inside), Arc::clone(&most));
                tokio::spawn(async move {
                    for round in 0..200 {
                        if (n + round) % 7 == 0 {
                            // One who gives up while waiting.
                            let _ = tokio::time::timeout(std::time::Duration::ZERO, turns.take()).await;
                            continue;
                        }
                        let _turn = turns.take().await.unwrap();
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        tokio::task::yield_now().await;
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(most.load(Ordering::SeqCst), 3);
        assert_eq!(turns.running.load(Ordering::SeqCst), 0);
    }
}
