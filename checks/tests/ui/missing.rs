//! A method that is not implemented.

use switchboard::service::prelude::*;

/// Greets.
#[service]
trait Greets {
    /// Says hello.
    #[tool]
    async fn hello(&self, name: String) -> Result<String>;

    /// Says goodbye.
    #[tool]
    async fn goodbye(&self, name: String) -> Result<String>;
}

struct Svc;

impl Greets for Svc {
    async fn hello(&self, name: String) -> Result<String> {
        Ok(name)
    }
}

fn main() {}
