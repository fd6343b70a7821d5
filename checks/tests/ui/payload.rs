//! A notification whose payload cannot be written.

use switchboard::service::prelude::*;

struct Tick;

/// Ticks.
#[service]
trait Ticks {
    /// A second is over.
    #[notification]
    fn ticked(tick: Tick);
}

fn main() {}
