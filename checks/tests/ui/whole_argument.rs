//! A struct of all arguments without any derive.

use switchboard::service::prelude::*;

struct Query {
    text: String,
}

/// Finds.
#[service(rpc = "/rpc")]
trait Finds {
    /// Finds what fits a query.
    #[tool]
    async fn find(&self, #[args] query: Query) -> Result<u32>;
}

fn main() {}
