//! Draining: refuses new calls, and waits until those under way have ended.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use switchboard_protocol::RpcError;
use tokio::sync::Notify;

use crate::error::shutting_down;

/// Counts the calls under way, and refuses new ones once the gateway drains.
#[derive(Debug, Default)]
pub(crate) struct DrainState {
    running: AtomicUsize,
    is_draining: AtomicBool,
    ended: Notify,
}

impl DrainState {
    /// Counts a call until the guard is dropped.
    ///
    /// # Errors
    /// When the gateway drains.
    pub(crate) fn begin_call(&self) -> Result<RunningCall<'_>, RpcError> {
        // Counted before the flag is read: `drain` sets the flag before it reads the count.
        self.running.fetch_add(1, Ordering::SeqCst);
        let running = RunningCall(self);
        if self.is_draining() { Err(shutting_down()) } else { Ok(running) }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::SeqCst)
    }

    pub(crate) fn running_calls(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    /// Refuses new calls and waits for those under way.
    pub(crate) async fn drain(&self) {
        self.is_draining.store(true, Ordering::SeqCst);
        loop {
            let mut ended = std::pin::pin!(self.ended.notified());
            ended.as_mut().enable();
            if self.running_calls() == 0 {
                return;
            }
            ended.await;
        }
    }
}

/// A call under way.
#[derive(Debug)]
pub(crate) struct RunningCall<'a>(&'a DrainState);

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        let was_last = self.0.running.fetch_sub(1, Ordering::SeqCst) == 1;
        if was_last && self.0.is_draining() {
            self.0.ended.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_waits_for_calls_under_way_and_refuses_new_ones() {
        let state = DrainState::default();
        let (first, second) = (state.begin_call().unwrap(), state.begin_call().unwrap());
        let mut drain = tokio_test_poll(state.drain());
        assert!(drain.is_pending());
        assert!(state.begin_call().unwrap_err().message.contains("shutting down"));
        drop(first);
        assert!(drain.is_pending());
        drop(second);
        drain.finish().await;
        assert_eq!(state.running_calls(), 0);
    }

    /// A future that is polled once at a time.
    struct Polled<F>(std::pin::Pin<Box<F>>);

    fn tokio_test_poll<F: Future<Output = ()>>(future: F) -> Polled<F> {
        Polled(Box::pin(future))
    }

    impl<F: Future<Output = ()>> Polled<F> {
        fn is_pending(&mut self) -> bool {
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            self.0.as_mut().poll(&mut cx).is_pending()
        }

        async fn finish(self) {
            self.0.await;
        }
    }
}
