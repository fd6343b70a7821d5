//! Start and restart policies of a server.

/// When a server is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartPolicy {
    /// Immediately.
    AtOnce,
    /// By its first call; until then a manifest provides its tools.
    WhenUsed,
    /// Not at all.
    Off(OffReason),
}

/// Why a server is not started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffReason {
    /// Its configuration disables it.
    Disabled,
    /// Its exact configuration was not approved.
    Unapproved,
}

/// What happens after a connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartPolicy {
    /// The server stays failed until it is reconnected explicitly.
    Never,
    /// The host reconnects with backoff until too many consecutive attempts have failed.
    WithBackoff {
        /// The number of consecutive failures after which the host gives up.
        max_failures: u32,
    },
}
