//! A trait with parameters.

use switchboard::service::prelude::*;

/// Keeps things.
#[service]
trait Keeps<T: Send> {
    /// Keeps a thing.
    #[tool]
    async fn keep(&self, text: String) -> Result<u32>;
}

fn main() {}
