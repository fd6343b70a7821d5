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

/// Which callers of a gateway share a session with a server, and so the process of a stdio server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharePolicy {
    /// Callers of one principal: `per-principal`.
    PerPrincipal,
    /// All callers: `always`.
    Always,
    /// Requests of one session of a client: `per-session`.
    PerSession,
    /// Callers of one principal that have the same roots: `per-root`.
    PerRoot,
}

impl SharePolicy {
    /// All policies.
    pub const ALL: [Self; 4] = [Self::PerPrincipal, Self::Always, Self::PerSession, Self::PerRoot];

    /// Returns the value of the `share` field.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PerPrincipal => "per-principal",
            Self::Always => "always",
            Self::PerSession => "per-session",
            Self::PerRoot => "per-root",
        }
    }
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
