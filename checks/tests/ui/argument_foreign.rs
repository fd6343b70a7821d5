//! An argument of a type of another crate, which nobody can read.

use std::time::Instant;

use switchboard::service::prelude::*;

/// Waits.
#[service]
trait Waits {
    /// Waits until then.
    #[tool]
    async fn wait(&self, until: Option<Instant>) -> Result<u32>;
}

fn main() {}
