//! An error type that is not an error of a service.

use switchboard::service::prelude::*;

/// Counts.
#[service(rpc = "/rpc")]
trait Counts {
    /// Counts the lines of a file.
    #[tool]
    async fn lines(&self, path: String) -> Result<u32, std::io::Error>;
}

fn main() {}
