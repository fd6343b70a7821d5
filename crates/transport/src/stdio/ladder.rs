//! The stop ladder: end of input, TERM, KILL, and giving up. Each step is bounded, so stopping always returns.

use std::time::Duration;

use switchboard_session::link::BoxFuture;

/// How long each step of stopping a server may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopLadder {
    /// From the end of its input until it is asked to stop (TERM).
    pub eof: Duration,
    /// From being asked until it is killed, with everything it started.
    pub term: Duration,
    /// From being killed until it is given up.
    pub kill: Duration,
}

impl Default for StopLadder {
    fn default() -> Self {
        Self { eof: Duration::from_secs(2), term: Duration::from_secs(2), kill: Duration::from_secs(1) }
    }
}

impl StopLadder {
    /// The same ladder in no more than this time, every step shortened alike.
    pub(crate) fn within(self, most: Duration) -> Self {
        let total = self.eof.saturating_add(self.term).saturating_add(self.kill);
        if total <= most {
            return self;
        }
        let part = most.as_secs_f64() / total.as_secs_f64();
        Self { eof: self.eof.mul_f64(part), term: self.term.mul_f64(part), kill: self.kill.mul_f64(part) }
    }
}

/// A push on the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Push {
    /// Asks the server to stop.
    Term,
    /// Kills it and everything it started.
    Kill,
}

/// How a process ended, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Status {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

/// What can be stopped. A trait, so that a test can stand in for a process that never dies.
pub(crate) trait Stoppable: Sync {
    fn push(&self, push: Push);
    fn exited(&self) -> BoxFuture<'_, Status>;
}

/// Climbs the ladder; the input was closed before. `None` if the process outlived all of it.
pub(crate) async fn stop(target: &impl Stoppable, ladder: StopLadder) -> Option<Status> {
    let mut exited = target.exited();
    for (wait, next) in [(ladder.eof, Some(Push::Term)), (ladder.term, Some(Push::Kill)), (ladder.kill, None)]
    {
        match (tokio::time::timeout(wait, &mut exited).await, next) {
            (Ok(status), _) => return Some(status),
            (Err(_), Some(push)) => target.push(push),
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
    struct Unkillable(Mutex<Vec<(Duration, Push)>>, Instant);

    impl Stoppable for Unkillable {
        fn push(&self, push: Push) {
            self.0.lock().push((self.1.elapsed(), push));
        }

        fn exited(&self) -> BoxFuture<'_, Status> {
            Box::pin(std::future::pending())
        }
    }

    /// F015.
    #[tokio::test(start_paused = true)]
    async fn an_unkillable_process_is_given_up_in_five_seconds() {
        let start = Instant::now();
        let process = Unkillable(Mutex::default(), start);
        assert_eq!(stop(&process, StopLadder::default()).await, None);
        assert!(start.elapsed() <= Duration::from_millis(5_010), "{:?}", start.elapsed());
        let pushes = process.0.into_inner();
        assert_eq!(
            pushes.iter().map(|(at, push)| (at.as_secs(), *push)).collect::<Vec<_>>(),
            [(2, Push::Term), (4, Push::Kill)]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn less_time_shortens_every_step() {
        let start = Instant::now();
        let process = Unkillable(Mutex::default(), start);
        assert_eq!(stop(&process, StopLadder::default().within(Duration::from_millis(500))).await, None);
        assert!(start.elapsed() <= Duration::from_millis(510), "{:?}", start.elapsed());
        assert_eq!(process.0.lock().len(), 2);
    }
}
