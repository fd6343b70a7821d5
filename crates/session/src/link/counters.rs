//! Counters of a connection: unexpected, damaged and dropped messages, so that nothing is lost silently.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// Live counters of one connection.
        #[derive(Debug, Default)]
        pub struct Counters { $($name: AtomicU64),* }

        /// The counters of one connection at one moment.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct Counts { $($(#[$doc])* pub $name: u64),* }

        #[cfg_attr(not(feature = "client"), expect(dead_code, reason = "some are counted by a client only"))]
        impl Counters {
            /// The counts now.
            pub fn snapshot(&self) -> Counts {
                Counts { $($name: self.$name.load(Ordering::Relaxed)),* }
            }

            $(pub(crate) fn $name(&self) -> u64 {
                self.$name.fetch_add(1, Ordering::Relaxed) + 1
            })*
        }
    };
}

counters! {
    /// Answers to nothing we asked, or that came too late, or twice.
    late_or_unknown,
    /// Answers that spelt our number id as a string.
    id_coerced,
    /// Lines that are no message and belong to nobody.
    junk,
    /// Damaged messages whose caller could be told.
    malformed,
    /// Messages beyond the size limit.
    too_large,
    /// Notifications that gave way because nobody took them.
    dropped_notes,
    /// Batches on a connection that has none.
    batches,
    /// Messages that did not say `"jsonrpc":"2.0"`.
    unversioned,
    /// Requests of the peer that its revision forbids.
    forbidden_upcalls,
    /// Cancellations and progress for nothing under way.
    stray_notes,
}
