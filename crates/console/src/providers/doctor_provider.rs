//! Provider of diagnosis: examines a server step by step.

use std::fmt::Debug;

use super::{BoxFuture, StepSink};
use crate::contract::{DoctorOutcome, DoctorStep};

/// Provider of diagnosis.
pub trait DoctorProvider: Debug + Send + Sync {
    /// Examines a server, reports each step when it has ended, and returns the outcome. Changes nothing.
    ///
    /// # Cancellation
    /// Dropping the future ends the diagnosis and what it has started.
    fn examine<'a>(&'a self, server: &'a str, steps: StepSink<DoctorStep>) -> BoxFuture<'a, DoctorOutcome>;
}
