//! Shows the messages of a host to the page and, with `--record`, to a file.

use std::sync::Arc;

use switchboard::host::{ObservedFrame, TrafficObserver, TrafficSource};
use switchboard_console::TrafficLog;

use crate::session_recorder::SessionRecorder;

/// Observer that passes each message on to the page and to a recorder.
pub(super) struct TrafficFanOut {
    pub(super) log: Arc<TrafficLog>,
    pub(super) recorder: Option<Arc<SessionRecorder>>,
}

impl TrafficObserver for TrafficFanOut {
    fn is_watching(&self) -> bool {
        self.recorder.is_some() || self.log.is_watching()
    }

    fn observe(&self, source: &TrafficSource<'_>, frame: &ObservedFrame<'_>) {
        if self.log.is_watching() {
            self.log.observe(source, frame);
        }
        if let Some(recorder) = &self.recorder {
            recorder.observe(source, frame);
        }
    }
}
