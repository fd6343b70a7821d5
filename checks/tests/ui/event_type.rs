//! Events of a stream that cannot be sent.

use switchboard::service::prelude::*;

struct Tick;

/// Ticks.
#[service(rpc = "/rpc")]
trait Ticks {
    /// Ticks until it is dropped.
    #[tool]
    async fn tick(&self, events: Events<Tick>) -> Result<()>;
}

fn main() {}
