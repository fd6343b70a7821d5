//! Receiver of the steps of a login or a diagnosis.

use std::fmt;
use std::sync::Arc;

/// Receives the steps of an operation as they happen. Clones send to the same receiver; sending never waits.
pub struct StepSink<T>(Arc<dyn Fn(T) + Send + Sync>);

impl<T> StepSink<T> {
    /// Creates a sink that passes each step to this function.
    pub fn new(receive: impl Fn(T) + Send + Sync + 'static) -> Self {
        Self(Arc::new(receive))
    }

    /// Sends a step.
    pub fn send(&self, step: T) {
        (self.0)(step);
    }
}

impl<T> Clone for StepSink<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for StepSink<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepSink").finish_non_exhaustive()
    }
}
