//! An argument that can be read and written, but has no schema.

use switchboard::service::prelude::*;

#[derive(Serialize, Deserialize)]
struct Query {
    text: String,
}

/// Finds.
#[service]
trait Finds {
    /// Finds what fits a query.
    #[tool]
    async fn find(&self, query: Query, #[arg(default = 3)] most: u32) -> Result<u32>;
}

fn main() {}
