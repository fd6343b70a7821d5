//! Bounded channel for the events of one receiver. Preserves order and reports dropped events.
//!
//! Invariant: events that do not fit are counted, and the count arrives as an error at the position of the gap.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use switchboard_design::Error;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// Events were dropped because the receiver was too slow. Retrieved from an [`Error`] with
/// [`downcast_ref`](Error::downcast_ref).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{count} events were lost: the receiver was too slow")]
#[non_exhaustive]
pub struct LostEvents {
    /// The number of dropped events.
    pub count: u64,
}

impl LostEvents {
    pub(crate) fn new(count: u64) -> Self {
        Self { count }
    }
}

type EventResult<T> = Result<T, Error>;

/// Sending half of the channel.
#[derive(Debug)]
pub(crate) struct LossySender<T> {
    sender: mpsc::Sender<EventResult<T>>,
    lost: Arc<AtomicU64>,
}

/// Receiving half of the channel.
#[derive(Debug)]
pub(crate) struct LossyReceiver<T> {
    receiver: mpsc::Receiver<EventResult<T>>,
    lost: Arc<AtomicU64>,
}

/// Creates a channel with room for about `capacity` events.
pub(crate) fn lossy_channel<T>(capacity: usize) -> (LossySender<T>, LossyReceiver<T>) {
    // An event after a gap needs two slots: one for the error, one for itself.
    let (sender, receiver) = mpsc::channel(capacity.max(2));
    let lost = Arc::new(AtomicU64::new(0));
    (LossySender { sender, lost: Arc::clone(&lost) }, LossyReceiver { receiver, lost })
}

impl<T> LossySender<T> {
    /// Sends an event; waits while the channel is full.
    pub(crate) async fn send(&self, event: T) -> Result<(), Error> {
        self.sender.send(Ok(event)).await.map_err(|_| Error::Cancelled)
    }

    /// Sends without waiting. Counts the event as lost when the channel is full.
    pub(crate) fn try_send(&self, event: EventResult<T>) -> Result<(), Error> {
        let missing = self.lost.load(Ordering::Acquire) > 0;
        match self.sender.try_reserve_many(if missing { 2 } else { 1 }) {
            Ok(mut permits) => {
                let lost = if missing { self.lost.swap(0, Ordering::AcqRel) } else { 0 };
                if lost > 0
                    && let Some(permit) = permits.next()
                {
                    permit.send(Err(Error::internal(LostEvents::new(lost))));
                }
                if let Some(permit) = permits.next() {
                    permit.send(event);
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

impl<T> LossyReceiver<T> {
    pub(crate) async fn recv(&mut self) -> Option<EventResult<T>> {
        match self.receiver.recv().await {
            Some(event) => Some(event),
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
    async fn lost_events_are_reported_at_their_position() {
        let (sender, mut receiver) = lossy_channel(3);
        for number in 0..5 {
            sender.try_send(Ok(number)).unwrap();
        }
        for number in 0..3 {
            assert_eq!(receiver.recv().await.unwrap().unwrap(), number);
        }
        sender.try_send(Ok(5)).unwrap();
        let error = receiver.recv().await.unwrap().unwrap_err();
        assert_eq!(error.downcast_ref::<LostEvents>().unwrap().count, 2);
        assert_eq!(receiver.recv().await.unwrap().unwrap(), 5);
        drop(sender);
        assert!(receiver.recv().await.is_none());
    }

    #[tokio::test]
    async fn events_lost_at_the_end_are_reported() {
        let (sender, mut receiver) = lossy_channel(2);
        (0..9).for_each(|number| sender.try_send(Ok(number)).unwrap());
        drop(sender);
        assert_eq!(receiver.recv().await.unwrap().unwrap(), 0);
        assert_eq!(receiver.recv().await.unwrap().unwrap(), 1);
        let error = receiver.recv().await.unwrap().unwrap_err();
        assert_eq!(error.source().unwrap().to_string(), "7 events were lost: the receiver was too slow");
        assert!(receiver.recv().await.is_none());
        let (sender, receiver) = lossy_channel(2);
        drop(receiver);
        assert!(matches!(sender.try_send(Ok(1)), Err(Error::Cancelled)));
    }
}
