//! Progress messages on standard error.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The shortest time between two lines about the same step.
const QUIET: Duration = Duration::from_secs(5);

/// Progress of the whole command.
#[derive(Debug)]
pub(super) struct Progress {
    start: Instant,
    // Held for a comparison and a line.
    last_message: Mutex<Instant>,
}

impl Progress {
    pub(super) fn start() -> Self {
        Self { start: Instant::now(), last_message: Mutex::new(Instant::now()) }
    }

    /// Reports the start of a step.
    pub(super) fn step(&self, what: &str) {
        if let Ok(mut last_message) = self.last_message.lock() {
            *last_message = Instant::now();
        }
        eprintln!("bench: {:6.1} s  {what}", self.start.elapsed().as_secs_f64());
    }

    /// Reports the start of a part of a step, rate-limited.
    pub(super) fn part(&self, done: usize, all: usize, what: impl ToString) {
        let due = self.last_message.lock().is_ok_and(|last| last.elapsed() >= QUIET);
        if due {
            self.step(&format!("  {} of {all}: {}", done + 1, what.to_string()));
        }
    }
}
