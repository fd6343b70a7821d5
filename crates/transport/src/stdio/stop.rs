//! Stops a process in steps: end of input, SIGTERM, SIGKILL, abandon. Each step has a timeout, so stopping always returns.

use std::time::Duration;

use switchboard_session::link::BoxFuture;

/// The timeouts of the steps in which a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopTimeouts {
    /// From the end of its input to SIGTERM.
    pub eof: Duration,
    /// From SIGTERM to killing it and its descendants.
    pub term: Duration,
    /// From killing it to abandoning it.
    pub kill: Duration,
}

impl Default for StopTimeouts {
    fn default() -> Self {
        Self { eof: Duration::from_secs(2), term: Duration::from_secs(2), kill: Duration::from_secs(1) }
    }
}

impl StopTimeouts {
    /// Scales all timeouts down to a total of at most `most`.
    pub(crate) fn within(self, most: Duration) -> Self {
        let total = self.eof.saturating_add(self.term).saturating_add(self.kill);
        if total <= most {
            return self;
        }
        let part = most.as_secs_f64() / total.as_secs_f64();
        Self { eof: self.eof.mul_f64(part), term: self.term.mul_f64(part), kill: self.kill.mul_f64(part) }
    }
}

/// A signal of the stop sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopSignal {
    /// Asks the server to stop.
    Term,
    /// Kills it and everything it started.
    Kill,
}

/// The exit status of a process, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ProcessExit {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

/// A process that can be stopped. A trait, so that tests can simulate an unkillable process.
pub(crate) trait Stoppable: Sync {
    fn signal(&self, signal: StopSignal);
    fn exited(&self) -> BoxFuture<'_, ProcessExit>;
}

/// Stops a process whose input was closed. Returns `None` if it survives all steps.
pub(crate) async fn stop(target: &impl Stoppable, timeouts: StopTimeouts) -> Option<ProcessExit> {
    let mut exited = target.exited();
    for (wait, next) in [
        (timeouts.eof, Some(StopSignal::Term)),
        (timeouts.term, Some(StopSignal::Kill)),
        (timeouts.kill, None),
    ] {
        match (tokio::time::timeout(wait, &mut exited).await, next) {
            (Ok(status), _) => return Some(status),
            (Err(_), Some(signal)) => target.signal(signal),
            (Err(_), None) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;
    use tokio::time::Instant;

    use super::*;

    /// Dies of nothing, like a process in an uninterruptible sleep.
    struct Unkillable(Mutex<Vec<(Duration, StopSignal)>>, Instant);

    impl Stoppable for Unkillable {
        fn signal(&self, signal: StopSignal) {
            self.0.lock().push((self.1.elapsed(), signal));
        }

        fn exited(&self) -> BoxFuture<'_, ProcessExit> {
            Box::pin(std::future::pending())
        }
    }

    /// F015.
    #[tokio::test(start_paused = true)]
    async fn an_unkillable_process_is_given_up_in_five_seconds() {
        let start = Instant::now();
        let process = Unkillable(Mutex::default(), start);
        assert_eq!(stop(&process, StopTimeouts::default()).await, None);
        assert!(start.elapsed() <= Duration::from_millis(5_010), "{:?}", start.elapsed());
        let signals = process.0.into_inner();
        assert_eq!(
            signals.iter().map(|(at, signal)| (at.as_secs(), *signal)).collect::<Vec<_>>(),
            [(2, StopSignal::Term), (4, StopSignal::Kill)]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn less_time_shortens_every_step() {
        let start = Instant::now();
        let process = Unkillable(Mutex::default(), start);
        assert_eq!(stop(&process, StopTimeouts::default().within(Duration::from_millis(500))).await, None);
        assert!(start.elapsed() <= Duration::from_millis(510), "{:?}", start.elapsed());
        assert_eq!(process.0.lock().len(), 2);
    }
}
