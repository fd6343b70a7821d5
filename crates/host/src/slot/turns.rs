//! How many calls run on one server at a time. Those beyond wait their turn, and those beyond these are refused: a
//! server that is slow must not gather calls without end.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Calls that may wait.
const QUEUE: usize = 256;

/// The turns of one server.
///
/// Counted by hand: hardly ever does a call wait, and a semaphore costs every call more than the count.
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

impl Turns {
    pub(crate) fn new(most: usize) -> Self {
        let (running, waiting) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { most, running, waiting, freed: Notify::new() }
    }

    /// A turn, now or when it comes. Taken back when it is dropped.
    pub(crate) async fn take(&self) -> Result<Turn<'_>, Busy> {
        match self.try_take() {
            Some(turn) => Ok(turn),
            None => Box::pin(self.wait()).await,
        }
    }

    fn try_take(&self) -> Option<Turn<'_>> {
        // Made first, so that a count too many is taken back by its drop.
        let before = self.running.fetch_add(1, Ordering::SeqCst);
        let turn = Turn { turns: self };
        (before < self.most).then_some(turn)
    }

    async fn wait(&self) -> Result<Turn<'_>, Busy> {
        let waiting = Waiting::new(&self.waiting);
        if waiting.place >= QUEUE {
            return Err(Busy);
        }
        loop {
            let freed = self.freed.notified();
            // Looked at after the wait was begun: a turn that is freed in between is not missed.
            if self.running.load(Ordering::SeqCst) < self.most
                && let Some(turn) = self.try_take()
            {
                return Ok(turn);
            }
            freed.await;
        }
    }
}

/// One call that runs.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.running.fetch_sub(1, Ordering::SeqCst);
        if self.turns.waiting.load(Ordering::SeqCst) > 0 {
            self.turns.freed.notify_one();
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
