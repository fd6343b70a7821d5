//! A result of a type of another crate, which nobody can write.

use switchboard::service::prelude::*;

/// Tells the time.
#[service(rpc = "/rpc")]
trait Tells {
    /// Tells the time.
    #[tool]
    async fn now(&self) -> Result<std::time::Instant>;
}

fn main() {}
