//! What a method is, and what every method needs.

use switchboard::service::prelude::*;

/// A service with mistakes, all of which are told at once.
#[service]
trait Mistakes {
    #[tool]
    async fn undescribed(&self) -> Result<u32>;

    /// Not async.
    #[tool]
    fn at_once(&self) -> Result<u32>;

    /// Cannot fail.
    #[tool]
    async fn certain(&self) -> u32;

    /// Returns nothing at all.
    #[tool]
    async fn silent(&self);

    /// Changes itself.
    #[tool]
    async fn changing(&mut self) -> Result<u32>;

    /// Has no receiver.
    #[tool]
    async fn alone() -> Result<u32>;

    /// Is two things.
    #[tool]
    #[prompt]
    async fn torn(&self) -> Result<u32>;

    /// Takes anything.
    #[tool]
    async fn any<T: Send>(&self, it: T) -> Result<u32>;

    /// Has no role, and the service no plain endpoint.
    async fn lost(&self) -> Result<u32>;

    const LIMIT: u32 = 3;
}

fn main() {}
