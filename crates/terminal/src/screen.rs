//! Standard error, shared by messages and one progress line, which is erased before a message.
//!
//! Invariant: the progress line is drawn only on a terminal and erased before anything else is written.
//!
//! Not `indicatif`: version 0.18 adds 12 s of CPU time and 5 crates to a release build in place of [`Screen::with_spinner`]
//! and [`progress_bar`] (45 lines). Its positions are integers, while the protocol reports fractions, and a spinner that
//! appears after a delay or takes its text from a closure would still be written here.

use std::io::{self, Write};
use std::sync::Mutex;
use std::time::Duration;

use switchboard_protocol::ProgressParams;
use tokio::time::Instant;

use crate::output_stream::OutputStream;
use crate::sanitize::{self, one_line};
use crate::wrap::wrap;

/// Delay before a spinner is shown.
const SPINNER_DELAY: Duration = Duration::from_millis(300);
const SPINNER_PERIOD: Duration = Duration::from_millis(100);
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Writer for standard error with an erasable progress line.
#[derive(Debug)]
pub struct Screen {
    /// Width and colors of standard error.
    pub out: OutputStream,
    /// Whether warnings are written as JSON objects.
    is_json: bool,
    /// Whether the progress line is drawn. A std mutex: held for one write, never across an await.
    progress_drawn: Mutex<bool>,
}

impl Screen {
    /// Creates a screen with warnings as text.
    pub fn new() -> Self {
        Self::with_json_warnings(false)
    }

    /// Creates a screen; if `is_json` is set, warnings are one JSON object per line, like errors.
    pub fn with_json_warnings(is_json: bool) -> Self {
        Self { out: OutputStream::stderr(), is_json, progress_drawn: Mutex::new(false) }
    }

    /// Writes a line.
    pub fn say(&self, line: &str) {
        self.write(&format!("{line}\n"));
    }

    /// Writes text without a line ending, for example a question that is answered on the same line.
    pub fn write(&self, text: &str) {
        self.write_raw(text, false);
    }

    /// Writes a warning.
    pub fn warn(&self, text: &str) {
        if self.is_json {
            return self.say(&sanitize::json(&serde_json::json!({ "warning": text }).to_string()));
        }
        self.say(&format!("{} {text}", self.out.yellow("warning:")));
    }

    /// Draws a progress bar that stays until something else is written.
    pub fn show_progress(&self, progress: &ProgressParams) {
        if self.out.is_terminal {
            self.write_raw(&progress_bar(&self.out, progress), true);
        }
    }

    /// Draws a line about pending work that stays until something else is written.
    pub fn show_waiting(&self, label: &str) {
        if self.out.is_terminal {
            self.write_raw(&self.out.dim(&fit(label, self.out.width - 1)), true);
        }
    }

    /// Awaits `work`; on a terminal, a spinner with the text of `label` appears after 300 ms.
    pub async fn with_spinner<T>(&self, label: impl Fn() -> String, work: impl Future<Output = T>) -> T {
        if !self.out.is_terminal {
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
                    self.show_waiting(&format!("{frame} {}", label()));
                }
            }
        }
    }

    /// Erases the progress line.
    pub fn clear(&self) {
        self.write_raw("", false);
    }

    fn write_raw(&self, text: &str, is_progress: bool) {
        let Ok(mut drawn) = self.progress_drawn.lock() else { return };
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

/// Renders a progress bar, `━━━━━━━━╌╌╌╌  3/5  mixing the dough`, one column short of the width so that it never wraps.
fn progress_bar(out: &OutputStream, params: &ProgressParams) -> String {
    const CELLS: usize = 24;
    let mut left = String::new();
    let mut cells = 0;
    if let Some(total) = params.total.filter(|total| *total > 0.0) {
        let share = (params.progress / total).clamp(0.0, 1.0);
        // In 0..=CELLS by the clamp.
        let done = (share * CELLS as f64) as usize;
        left = format!("{}{} ", out.green(&"━".repeat(done)), out.dim(&"╌".repeat(CELLS - done)));
        cells = CELLS + 1;
    }
    let numbers = match params.total {
        Some(total) => format!("{}/{}", params.progress, total),
        None => params.progress.to_string(),
    };
    let message = params.message.as_deref().map(one_line).unwrap_or_default();
    let text = format!(" {numbers}  {message}");
    left + &fit(text.trim_end(), out.width.saturating_sub(cells + 1))
}

/// Truncates text to one line of this width.
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
    fn a_progress_bar_never_wraps_and_has_no_escape_sequences() {
        for width in [20, 40, 80] {
            for (progress, total) in [(0.0, Some(3.0)), (7.0, Some(3.0)), (-1.0, Some(0.0)), (f64::MAX, None)]
            {
                let mut params = ProgressParams::new(RequestId::Number(1), progress);
                params.total = total;
                params.message = Some(format!("\u{1b}[2J漢字 {}", "long ".repeat(40)));
                let bar = progress_bar(&OutputStream::plain(width), &params);
                assert!(bar.width() < width.max(30), "{width}: {bar}");
                assert!(!bar.contains('\u{1b}'));
            }
        }
    }
}
