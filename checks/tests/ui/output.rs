//! A result that cannot be written.

use switchboard::service::prelude::*;

struct Opaque;

/// Answers.
#[service]
trait Answers {
    /// Answers with what nobody can read.
    #[tool]
    async fn answer(&self) -> Result<Opaque>;
}

fn main() {}
