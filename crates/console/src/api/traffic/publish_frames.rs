//! Publishes the frames of the log as events, in batches.

use std::sync::Arc;

use crate::api::ConsoleState;
use crate::contract::ConsoleEvent;
use crate::traffic::FrameBatches;

/// Publishes new frames until it is dropped.
pub(in crate::api) async fn publish_frames(state: Arc<ConsoleState>) {
    let mut batches = FrameBatches::new(&state.traffic);
    loop {
        batches.wait().await;
        state.update_secrets();
        let Some(batch) = batches.take() else { continue };
        state.events.publish(ConsoleEvent::Frames { frames: batch.frames, totals: batch.totals });
    }
}
