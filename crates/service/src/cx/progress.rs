//! How far a call is.

use std::fmt::Display;

use super::Cx;

/// Tells the caller how far the call is. Does nothing when the caller did not ask; what goes backwards is not told.
#[derive(Debug, Clone)]
pub struct Progress {
    pub(super) cx: Cx,
    pub(super) total: Option<f64>,
}

impl Progress {
    /// So far, and what is going on.
    pub fn at(&self, progress: f64, message: impl Display) {
        self.cx.report(progress, self.total, Some(&message.to_string()));
    }

    /// So far.
    pub fn reach(&self, progress: f64) {
        self.cx.report(progress, self.total, None);
    }
}
