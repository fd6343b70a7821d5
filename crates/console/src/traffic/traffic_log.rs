//! The log of frames.

/// A bounded log of frames.
#[derive(Debug, Default)]
pub struct TrafficLog;
