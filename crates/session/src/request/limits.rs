//! The limits of a client session: timeouts and sizes.

use std::time::Duration;

/// The timeouts and size limits of a session. Each has a safe default; `Duration::MAX` means no timeout.
///
/// ```
/// use std::time::Duration;
///
/// use switchboard::client::{Client, Limits};
///
/// let mut limits = Limits::default();
/// assert_eq!(limits.call_idle, Duration::from_secs(60));
/// limits.startup = Duration::from_secs(10);
/// limits.call_total = Duration::MAX; // no timeout
/// let client = Client::new().with_limits(limits);
/// # drop(client);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// From the start of the server to an open session.
    pub startup: Duration,
    /// How long the probe for the modern era may take before the legacy handshake is tried concurrently.
    pub probe: Duration,
    /// A call without progress; each progress report restarts it.
    pub call_idle: Duration,
    /// A whole call, independent of progress.
    pub call_total: Duration,
    /// How long the timeouts of a call are paused in all for questions of the server that name no call: they may belong to
    /// another one. A question that names its call pauses the timeouts of that call only, as long as it takes.
    pub shared_pause: Duration,
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
    /// The longest lifetime of a cached result, whatever the server says.
    pub cache_ttl: Duration,
    /// Cached results, in entries.
    pub cache_entries: usize,
    /// Cached results, in bytes.
    pub cache_bytes: usize,
    /// Progress reports per second that reach the caller; the latest wins.
    pub progress_per_second: u32,
    /// Requests of the server answered concurrently.
    pub upcalls: usize,
    /// Closing, all steps together.
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
            shared_pause: seconds(15 * 60),
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
