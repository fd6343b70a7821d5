//! Names that are taken.

use switchboard::service::prelude::*;

/// A service with mistakes, all of which are told at once.
#[service]
trait Mistakes {
    /// Counts.
    #[tool(name = "count")]
    async fn count_words(&self) -> Result<u32>;

    /// Counts.
    #[tool(name = "count")]
    async fn count_letters(&self) -> Result<u32>;

    /// Has a name of its own.
    #[prompt]
    async fn count(&self) -> Result<PromptMessages>;

    /// Takes it again.
    #[prompt(name = "count")]
    async fn count_again(&self) -> Result<PromptMessages>;

    /// A document.
    #[resource("doc://one")]
    async fn document(&self) -> Result<String>;

    /// Another document.
    #[resource("doc://other", name = "document")]
    async fn other_document(&self) -> Result<String>;
}

fn main() {}
