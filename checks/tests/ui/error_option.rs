//! One error type for all methods, which is not an error of a service.

use switchboard::service::prelude::*;

#[derive(Debug)]
struct Failure;

/// Counts.
#[service(error = Failure, rpc = "/rpc")]
trait Counts {
    /// Counts the lines of a file.
    #[tool]
    async fn lines(&self, path: String) -> Result<u32>;

    /// Counts the words of a file.
    #[tool]
    async fn words(&self, path: String) -> Result<u32>;

    /// Counts the files.
    async fn files(&self) -> Result<u32>;
}

fn main() {}
