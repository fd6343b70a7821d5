//! What is being done, on standard error, so that nobody thinks it hangs.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The shortest time between two lines about the same step.
const QUIET: Duration = Duration::from_secs(5);

/// The clock of the whole command.
#[derive(Debug)]
pub(super) struct Progress {
    start: Instant,
    // Held for a comparison and a line.
    said: Mutex<Instant>,
}

impl Progress {
    pub(super) fn start() -> Self {
        Self { start: Instant::now(), said: Mutex::new(Instant::now()) }
    }

    /// A step begins.
    pub(super) fn step(&self, what: &str) {
        if let Ok(mut said) = self.said.lock() {
            *said = Instant::now();
        }
        eprintln!("bench: {:6.1} s  {what}", self.start.elapsed().as_secs_f64());
    }

    /// One of the many parts of a step begins; said now and then.
    pub(super) fn part(&self, done: usize, all: usize, what: impl ToString) {
        let due = self.said.lock().is_ok_and(|said| said.elapsed() >= QUIET);
        if due {
            self.step(&format!("  {} of {all}: {}", done + 1, what.to_string()));
        }
    }
}
