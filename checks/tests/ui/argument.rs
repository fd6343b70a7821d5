//! An argument that cannot be read.

use switchboard::service::prelude::*;

struct Opaque;

/// Asks.
#[service]
trait Asks {
    /// Asks for what nobody can write.
    #[tool]
    async fn ask(&self, what: Opaque) -> Result<u32>;
}

fn main() {}
