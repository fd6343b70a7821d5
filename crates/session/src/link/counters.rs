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
            /// Returns the current counts.
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
    /// Responses to no request of ours, or that came too late, or twice.
    late_or_unknown,
    /// Responses that carried our number id as a string.
    id_coerced,
    /// Lines that are not messages.
    junk,
    /// Damaged responses whose caller got the error.
    malformed,
    /// Messages beyond the size limit.
    too_large,
    /// Notifications that were dropped because a queue was full.
    dropped_notes,
    /// Batches on a connection whose revision has none.
    batches,
    /// Messages that did not say `"jsonrpc":"2.0"`.
    unversioned,
    /// Requests of the peer that its revision forbids.
    forbidden_upcalls,
    /// Cancellations and progress for no request in flight.
    stray_notes,
}
