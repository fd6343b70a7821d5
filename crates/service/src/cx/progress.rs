//! Progress reporting.

use std::fmt::Display;

use super::Cx;

/// Reports progress to the caller. Ignored when the caller did not request progress; decreasing values are not sent.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use switchboard::service::Cx;
///
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let log = Arc::clone(&seen);
/// let cx = Cx::test().on_progress(move |report| log.lock().unwrap().push(report.progress)).build();
/// let progress = cx.progress(2.0);
/// progress.report(1.0);
/// progress.report_with_message(2.0, "done");
/// assert_eq!(*seen.lock().unwrap(), [1.0, 2.0]);
/// ```
#[derive(Debug, Clone)]
pub struct Progress {
    pub(super) cx: Cx,
    pub(super) total: Option<f64>,
}

impl Progress {
    /// Reports progress with a message.
    pub fn report_with_message(&self, progress: f64, message: impl Display) {
        self.cx.report(progress, self.total, Some(&message.to_string()));
    }

    /// Reports progress.
    pub fn report(&self, progress: f64) {
        self.cx.report(progress, self.total, None);
    }
}
