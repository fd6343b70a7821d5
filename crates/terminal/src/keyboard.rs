//! Lines typed at the terminal, as something to await.

use std::io::BufRead;
use std::sync::OnceLock;

use tokio::sync::{Mutex, mpsc};

/// Standard input, read by its own thread from the first question on.
///
/// The thread cannot be stopped while it blocks on a read, so it is never joined: it ends with the process.
#[derive(Debug, Default)]
pub struct Keyboard {
    lines: OnceLock<Mutex<mpsc::UnboundedReceiver<String>>>,
}

impl Keyboard {
    #[cfg(test)]
    pub(crate) fn typed(typed: &[&str]) -> Self {
        let (keys, lines) = mpsc::unbounded_channel();
        typed.iter().for_each(|line| keys.send((*line).to_owned()).unwrap());
        Self { lines: OnceLock::from(Mutex::new(lines)) }
    }

    /// Returns the next line without its line ending, or `None` at the end of input.
    pub async fn line(&self) -> Option<String> {
        let lines = self.lines.get_or_init(|| Mutex::new(start()));
        lines.lock().await.recv().await
    }
}

fn start() -> mpsc::UnboundedReceiver<String> {
    // Unbounded is fine here: nobody types faster than memory grows.
    let (typed, lines) = mpsc::unbounded_channel();
    let read = move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if typed.send(line).is_err() {
                return;
            }
        }
    };
    // Without a thread there are no lines, which is what a closed channel says.
    _ = std::thread::Builder::new().name("keyboard".to_owned()).spawn(read);
    lines
}
