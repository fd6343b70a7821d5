//! Progress reporting.

use std::fmt::Display;

use super::Cx;

/// Reports progress to the caller. Ignored when the caller did not request progress; decreasing values are not sent.
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
