//! Asynchronous lines of standard input.

use std::io::BufRead;
use std::sync::OnceLock;

use tokio::sync::{Mutex, mpsc};

/// Lines of standard input, read by a dedicated thread that starts with the first call of [`next_line`](Self::next_line).
///
/// A blocking read cannot be interrupted, so the thread is never joined: it ends with the process.
#[derive(Debug, Default)]
pub struct StdinLines {
    lines: OnceLock<Mutex<mpsc::UnboundedReceiver<String>>>,
}

impl StdinLines {
    #[cfg(test)]
    pub(crate) fn from_lines(typed: &[&str]) -> Self {
        let (sender, lines) = mpsc::unbounded_channel();
        typed.iter().for_each(|line| sender.send((*line).to_owned()).unwrap());
        Self { lines: OnceLock::from(Mutex::new(lines)) }
    }

    /// Returns the next line without its line ending, or `None` at the end of input.
    pub async fn next_line(&self) -> Option<String> {
        let lines = self.lines.get_or_init(|| Mutex::new(spawn_reader()));
        lines.lock().await.recv().await
    }
}

fn spawn_reader() -> mpsc::UnboundedReceiver<String> {
    // Unbounded is fine here: a person types the lines.
    let (sender, lines) = mpsc::unbounded_channel();
    let read = move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    };
    // If the thread cannot be started, the channel is closed, which means end of input.
    _ = std::thread::Builder::new().name("stdin".to_owned()).spawn(read);
    lines
}
