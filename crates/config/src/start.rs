//! When a server is started, and what happens when its connection is lost.

/// Whether a server is started, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the host.
    AtOnce,
    /// With the first call, while a remembered list shows its tools.
    WhenUsed,
    /// Not.
    Off(Off),
}

/// Why a server is not started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Off {
    /// Its entry says so.
    Disabled,
    /// Nobody approved its exact configuration yet.
    Unapproved,
}

/// What happens when a server is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Nothing: it stays failed until somebody reconnects it.
    Never,
    /// It is started again with growing pauses, until this many failed in a row.
    WithBackoff {
        /// How many.
        most: u32,
    },
}
