//! The limits of a client session: how long it waits, how much it takes.

use std::time::Duration;

/// How long a session waits, and how much it takes. Each has a safe default; `Duration::MAX` spells "no bound".
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// From the start of the server to an open session.
    pub startup: Duration,
    /// How long the probe for the modern era may take before the old handshake is tried beside it.
    pub probe: Duration,
    /// A call without any word on it; progress begins it anew.
    pub call_idle: Duration,
    /// A call in all, however much progress it reports.
    pub call_total: Duration,
    /// Reading a resource or a prompt.
    pub read: Duration,
    /// A completion.
    pub complete: Duration,
    /// One page of a list.
    pub page: Duration,
    /// All pages of a list.
    pub list: Duration,
    /// Pages of one list.
    pub pages: usize,
    /// Entries of one list.
    pub entries: usize,
    /// Rounds of input for one call.
    pub rounds: usize,
    /// How long a cached answer is kept at most, whatever the server says.
    pub cache_ttl: Duration,
    /// Cached answers, in entries.
    pub cache_entries: usize,
    /// Cached answers, in bytes.
    pub cache_bytes: usize,
    /// Progress reports a second that reach the caller; the latest wins.
    pub progress_per_second: u32,
    /// Requests of the server answered at the same time.
    pub upcalls: usize,
    /// How long closing may take, all steps together.
    pub close: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            startup: seconds(60),
            probe: seconds(5),
            call_idle: seconds(60),
            call_total: seconds(15 * 60),
            read: seconds(30),
            complete: seconds(10),
            page: seconds(30),
            list: seconds(60),
            pages: 64,
            entries: 10_000,
            rounds: 10,
            cache_ttl: seconds(24 * 60 * 60),
            cache_entries: 10_000,
            cache_bytes: 64 * 1024 * 1024,
            progress_per_second: 20,
            upcalls: 256,
            close: seconds(6),
        }
    }
}
