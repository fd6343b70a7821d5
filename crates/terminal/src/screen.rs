//! Standard error, shared by messages and one progress line that gives way to them.
//!
//! Invariant: the progress line is drawn only on a terminal and erased before anything else is written.

use std::io::{self, Write};
use std::sync::Mutex;
use std::time::Duration;

use switchboard_protocol::ProgressParams;
use tokio::time::Instant;

use crate::paper::Paper;
use crate::sanitize::{self, one_line};
use crate::wrap::wrap;

/// How long something may take before a spinner is shown.
const SPINNER_DELAY: Duration = Duration::from_millis(300);
const SPINNER_PERIOD: Duration = Duration::from_millis(100);
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Standard error.
#[derive(Debug)]
pub struct Screen {
    /// Its width and colors.
    pub paper: Paper,
    /// Whether warnings are written as JSON, for a program.
    is_json: bool,
    /// Whether the progress line is drawn. A std mutex: held for one write, never across an await.
    drawn: Mutex<bool>,
}

impl Screen {
    /// Standard error, read by a person.
    pub fn new() -> Self {
        Self::read_as(false)
    }

    /// Standard error; with `is_json`, warnings are one JSON object per line, as errors are.
    pub fn read_as(is_json: bool) -> Self {
        Self { paper: Paper::stderr(), is_json, drawn: Mutex::new(false) }
    }

    /// Writes a line.
    pub fn say(&self, line: &str) {
        self.write(&format!("{line}\n"));
    }

    /// Writes text without a line ending: a question, to be answered behind it.
    pub fn write(&self, text: &str) {
        self.put(text, false);
    }

    /// Writes a warning.
    pub fn warn(&self, text: &str) {
        if self.is_json {
            return self.say(&sanitize::json(&serde_json::json!({ "warning": text }).to_string()));
        }
        self.say(&format!("{} {text}", self.paper.yellow("warning:")));
    }

    /// Draws a progress notification, until something else is written.
    pub fn progress(&self, told: &ProgressParams) {
        if self.paper.is_terminal {
            self.put(&bar(&self.paper, told), true);
        }
    }

    /// Shows what the command waits for, until something else is written.
    pub fn waiting(&self, what: &str) {
        if self.paper.is_terminal {
            self.put(&self.paper.dim(&fit(what, self.paper.width - 1)), true);
        }
    }

    /// Awaits `work`; at a terminal, a spinner with the text of `what` appears after 300 ms.
    pub async fn while_waiting<T>(&self, what: impl Fn() -> String, work: impl Future<Output = T>) -> T {
        if !self.paper.is_terminal {
            return work.await;
        }
        let mut work = std::pin::pin!(work);
        let mut ticks = tokio::time::interval_at(Instant::now() + SPINNER_DELAY, SPINNER_PERIOD);
        let mut frames = SPINNER.iter().cycle();
        loop {
            tokio::select! {
                biased;
                done = &mut work => {
                    self.clear();
                    return done;
                }
                _ = ticks.tick() => {
                    let frame = frames.next().copied().unwrap_or_default();
                    self.waiting(&format!("{frame} {}", what()));
                }
            }
        }
    }

    /// Erases the progress line.
    pub fn clear(&self) {
        self.put("", false);
    }

    fn put(&self, text: &str, is_progress: bool) {
        let Ok(mut drawn) = self.drawn.lock() else { return };
        let erase = if *drawn { "\r\x1b[K" } else { "" };
        *drawn = is_progress;
        let mut err = io::stderr().lock();
        // Nothing can be done about a closed stderr.
        _ = err.write_all(format!("{erase}{text}").as_bytes());
        _ = err.flush();
    }
}

impl Default for Screen {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.clear();
    }
}

/// `━━━━━━━━╌╌╌╌  3/5  mixing the dough`, one column short of the width so that it never wraps.
fn bar(paper: &Paper, told: &ProgressParams) -> String {
    const CELLS: usize = 24;
    let mut left = String::new();
    let mut cells = 0;
    if let Some(total) = told.total.filter(|total| *total > 0.0) {
        let share = (told.progress / total).clamp(0.0, 1.0);
        // In 0..=CELLS by the clamp.
        let done = (share * CELLS as f64) as usize;
        left = format!("{}{} ", paper.green(&"━".repeat(done)), paper.dim(&"╌".repeat(CELLS - done)));
        cells = CELLS + 1;
    }
    let numbers = match told.total {
        Some(total) => format!("{}/{}", told.progress, total),
        None => told.progress.to_string(),
    };
    let message = told.message.as_deref().map(one_line).unwrap_or_default();
    let words = format!(" {numbers}  {message}");
    left + &fit(words.trim_end(), paper.width.saturating_sub(cells + 1))
}

/// As much of one line as fits.
fn fit(text: &str, width: usize) -> String {
    wrap(text, width.max(2) - 1)
        .into_iter()
        .next()
        .map_or(String::new(), |first| if first.len() < text.trim_end().len() { first + "…" } else { first })
}

#[cfg(test)]
mod tests {
    use switchboard_protocol::RequestId;
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[test]
    fn a_bar_never_wraps_and_is_never_hostile() {
        for width in [20, 40, 80] {
            for (progress, total) in [(0.0, Some(3.0)), (7.0, Some(3.0)), (-1.0, Some(0.0)), (f64::MAX, None)]
            {
                let mut told = ProgressParams::new(RequestId::Number(1), progress);
                told.total = total;
                told.message = Some(format!("\u{1b}[2J漢字 {}", "long ".repeat(40)));
                let bar = bar(&Paper::plain(width), &told);
                assert!(bar.width() < width.max(30), "{width}: {bar}");
                assert!(!bar.contains('\u{1b}'));
            }
        }
    }
}
