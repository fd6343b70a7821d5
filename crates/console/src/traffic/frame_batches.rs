//! Batches of new frames for the event stream: at most 500 frames, at most every 50 ms.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::TrafficLog;
use crate::contract::TrafficPage;

/// Frames of one batch.
const MAX_FRAMES: usize = 500;
/// Time between two batches.
const INTERVAL: Duration = Duration::from_millis(50);

/// Reads the frames of a log from now on, in batches.
#[derive(Debug)]
pub(crate) struct FrameBatches {
    log: Arc<TrafficLog>,
    last: watch::Receiver<u64>,
    /// The number of the last frame that was read.
    position: u64,
}

impl FrameBatches {
    pub(crate) fn new(log: &Arc<TrafficLog>) -> Self {
        let last = log.watch();
        let position = *last.borrow();
        Self { log: Arc::clone(log), last, position }
    }

    /// Waits for new frames, and for others to join their batch.
    ///
    /// # Cancellation
    /// No frame is lost.
    pub(crate) async fn wait(&mut self) {
        // The log is held here, so its sender is not dropped.
        _ = self.last.wait_for(|last| *last > self.position).await;
        tokio::time::sleep(INTERVAL).await;
    }

    /// Returns the next frames. Frames that the log has dropped meanwhile are left out; `None` if all were.
    pub(crate) fn take(&mut self) -> Option<TrafficPage> {
        let page = self.log.page(self.position, MAX_FRAMES);
        self.position = page.frames.last().map_or_else(|| *self.last.borrow(), |last| last.frame);
        (!page.frames.is_empty()).then_some(page)
    }
}
