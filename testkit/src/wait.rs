//! Waiting for a condition that nothing announces.

use std::fmt::Display;
use std::time::Duration;

/// Time limit of one step of a test. Only a hang exceeds it, however busy the machine is.
pub const STEP_TIMEOUT: Duration = Duration::from_secs(120);

const INTERVAL: Duration = Duration::from_millis(5);

/// Polls a condition until it holds.
///
/// Counts polls instead of reading a clock, so that a paused clock does not end the wait early.
pub async fn wait_until(what: impl Display, mut condition: impl FnMut() -> bool) {
    for _ in 0..STEP_TIMEOUT.as_millis() / INTERVAL.as_millis() {
        if condition() {
            return;
        }
        tokio::time::sleep(INTERVAL).await;
    }
    panic!("waited {STEP_TIMEOUT:?} in vain for {what}");
}
