//! Events and changes, where they do not belong.

use switchboard::service::prelude::*;

/// A service with mistakes, all of which are told at once.
#[service]
trait Mistakes {
    /// Streams twice.
    #[tool]
    async fn twice(&self, one: Events<String>, other: Events<String>) -> Result<u32>;

    /// Streams what?
    #[tool]
    async fn what(&self, events: Events) -> Result<u32>;

    /// Streams where nobody listens.
    #[resource("doc://list")]
    async fn documents(&self, events: Events<String>) -> Result<u32>;

    /// Changes what?
    #[tool]
    async fn changing(&self, changes: Changes) -> Result<u32>;

    /// Watches nothing that is there.
    #[subscription(resource = "docments")]
    async fn watch_nothing(&self, changes: Changes) -> Result<()>;

    /// Watches what cannot be watched.
    #[subscription(resource = "documents")]
    async fn watch_documents(&self, changes: Changes) -> Result<()>;

    /// The status.
    #[resource("doc://status", watch)]
    async fn status(&self) -> Result<u32>;

    /// Watches without a way to tell.
    #[subscription(resource = "status")]
    async fn watch_status(&self, limit: u32) -> Result<()>;

    /// Watches what is watched.
    #[subscription(resource = "status")]
    async fn watch_again(&self, changes: Changes) -> Result<()>;

    /// Watches.
    #[subscription]
    async fn watch(&self, changes: Changes) -> Result<()>;
}

fn main() {}
