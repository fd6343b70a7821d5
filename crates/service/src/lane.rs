//! Events on their way to one receiver: in order, bounded, and never lost without a word.
//!
//! Invariant: what did not fit is counted, and the count arrives as an error at the place where the events are missing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use switchboard_design::Error;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// Events that were lost because they came faster than they were taken. Found in an [`Error`] with
/// [`downcast_ref`](Error::downcast_ref).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{count} events were lost: they came faster than they were taken")]
#[non_exhaustive]
pub struct LostEvents {
    /// How many.
    pub count: u64,
}

impl LostEvents {
    pub(crate) fn new(count: u64) -> Self {
        Self { count }
    }
}

type Arrived<T> = Result<T, Error>;

/// Where events go in.
#[derive(Debug)]
pub(crate) struct LaneSender<T> {
    sender: mpsc::Sender<Arrived<T>>,
    lost: Arc<AtomicU64>,
}

/// Where they come out.
#[derive(Debug)]
pub(crate) struct LaneReceiver<T> {
    receiver: mpsc::Receiver<Arrived<T>>,
    lost: Arc<AtomicU64>,
}

/// A lane for about so many events at a time.
pub(crate) fn lane<T>(capacity: usize) -> (LaneSender<T>, LaneReceiver<T>) {
    // Room for an event and for the word that others are missing before it.
    let (sender, receiver) = mpsc::channel(capacity.max(2));
    let lost = Arc::new(AtomicU64::new(0));
    (LaneSender { sender, lost: Arc::clone(&lost) }, LaneReceiver { receiver, lost })
}

impl<T> LaneSender<T> {
    /// Waits until there is room.
    pub(crate) async fn send(&self, event: T) -> Result<(), Error> {
        self.sender.send(Ok(event)).await.map_err(|_| Error::Cancelled)
    }

    /// Never waits: what does not fit is counted.
    pub(crate) fn offer(&self, arrived: Arrived<T>) -> Result<(), Error> {
        let missing = self.lost.load(Ordering::Acquire) > 0;
        match self.sender.try_reserve_many(if missing { 2 } else { 1 }) {
            Ok(mut places) => {
                let lost = if missing { self.lost.swap(0, Ordering::AcqRel) } else { 0 };
                if lost > 0
                    && let Some(place) = places.next()
                {
                    place.send(Err(Error::internal(LostEvents::new(lost))));
                }
                if let Some(place) = places.next() {
                    place.send(arrived);
                }
                Ok(())
            }
            Err(TrySendError::Full(())) => {
                self.lost.fetch_add(1, Ordering::AcqRel);
                Ok(())
            }
            Err(TrySendError::Closed(())) => Err(Error::Cancelled),
        }
    }
}

impl<T> LaneReceiver<T> {
    pub(crate) async fn recv(&mut self) -> Option<Arrived<T>> {
        match self.receiver.recv().await {
            Some(arrived) => Some(arrived),
            None => match self.lost.swap(0, Ordering::AcqRel) {
                0 => None,
                lost => Some(Err(Error::internal(LostEvents::new(lost)))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_does_not_fit_is_told_where_it_is_missing() {
        let (sender, mut receiver) = lane(3);
        for number in 0..5 {
            sender.offer(Ok(number)).unwrap();
        }
        for number in 0..3 {
            assert_eq!(receiver.recv().await.unwrap().unwrap(), number);
        }
        sender.offer(Ok(5)).unwrap();
        let error = receiver.recv().await.unwrap().unwrap_err();
        assert_eq!(error.downcast_ref::<LostEvents>().unwrap().count, 2);
        assert_eq!(receiver.recv().await.unwrap().unwrap(), 5);
        drop(sender);
        assert!(receiver.recv().await.is_none());
    }

    #[tokio::test]
    async fn what_is_missing_at_the_end_is_told_too() {
        let (sender, mut receiver) = lane(2);
        (0..9).for_each(|number| sender.offer(Ok(number)).unwrap());
        drop(sender);
        assert_eq!(receiver.recv().await.unwrap().unwrap(), 0);
        assert_eq!(receiver.recv().await.unwrap().unwrap(), 1);
        let error = receiver.recv().await.unwrap().unwrap_err();
        assert_eq!(
            error.source().unwrap().to_string(),
            "7 events were lost: they came faster than they were taken"
        );
        assert!(receiver.recv().await.is_none());
        let (sender, receiver) = lane(2);
        drop(receiver);
        assert!(matches!(sender.offer(Ok(1)), Err(Error::Cancelled)));
    }
}
