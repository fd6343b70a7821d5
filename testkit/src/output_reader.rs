//! Reads an output stream in a thread, so that a test can wait for text in it.

use std::io::Read;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use crate::wait::STEP_TIMEOUT;

/// Collects a stream until its end. Clones share what was read.
#[derive(Debug, Clone)]
pub struct OutputReader {
    state: Arc<(Mutex<StreamState>, Condvar)>,
}

#[derive(Debug, Default)]
struct StreamState {
    bytes: Vec<u8>,
    has_ended: bool,
}

impl OutputReader {
    /// Starts to read the stream.
    pub fn new(mut stream: impl Read + Send + 'static) -> Self {
        let reader = Self { state: Arc::default() };
        let state = Arc::clone(&reader.state);
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            // A closed terminal returns an error instead of the end of the stream.
            while let Ok(count @ 1..) = stream.read(&mut chunk) {
                state.0.lock().unwrap().bytes.extend(&chunk[..count]);
                state.1.notify_all();
            }
            state.0.lock().unwrap().has_ended = true;
            state.1.notify_all();
        });
        reader
    }

    /// Waits until the text appears after the offset `from`; returns the offset after it.
    pub fn wait_for(&self, text: &str, from: usize) -> usize {
        let (lock, changed) = &*self.state;
        let end = Instant::now() + STEP_TIMEOUT;
        let mut state = lock.lock().unwrap();
        loop {
            let found = state.bytes[from..].windows(text.len()).position(|part| part == text.as_bytes());
            if let Some(at) = found {
                return from + at + text.len();
            }
            let left = end.saturating_duration_since(Instant::now());
            let read = String::from_utf8_lossy(&state.bytes[from..]).into_owned();
            assert!(!left.is_zero() && !state.has_ended, "expected {text:?} in {read:?}");
            state = changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits for a line that contains the text; returns the rest of the line.
    pub fn line_after(&self, text: &str) -> String {
        let from = self.wait_for(text, 0);
        let end = self.wait_for("\n", from);
        String::from_utf8_lossy(&self.state.0.lock().unwrap().bytes[from..end]).trim_end().to_owned()
    }

    /// Waits for white space after the offset `from`; returns the text before it, and its end.
    pub fn word_at(&self, from: usize) -> (String, usize) {
        let is_complete = |state: &StreamState| state.bytes[from..].iter().any(u8::is_ascii_whitespace);
        let (lock, changed) = &*self.state;
        let state = lock.lock().unwrap();
        let (state, timeout) =
            changed.wait_timeout_while(state, STEP_TIMEOUT, |state| !is_complete(state)).unwrap();
        assert!(!timeout.timed_out(), "the word does not end");
        let length = state.bytes[from..].iter().position(u8::is_ascii_whitespace).unwrap();
        (String::from_utf8_lossy(&state.bytes[from..from + length]).into_owned(), from + length)
    }

    /// Waits for the end of the stream, and returns all of its text.
    pub fn all(&self) -> String {
        let (lock, changed) = &*self.state;
        let state = lock.lock().unwrap();
        let (state, timeout) =
            changed.wait_timeout_while(state, STEP_TIMEOUT, |state| !state.has_ended).unwrap();
        assert!(!timeout.timed_out(), "the stream does not end");
        String::from_utf8_lossy(&state.bytes).into_owned()
    }
}
