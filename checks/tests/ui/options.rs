//! Options that there are not, and values that they cannot have.

use switchboard::service::prelude::*;

/// A service with mistakes, all of which are told at once.
#[service(nmae = "mistakes", rpc = "rpc", version("1.0.0"), error = 3 + 4)]
trait Mistakes {
    /// Is misspelt.
    #[tool(readonly, titel = "Title", scopes = "a", xyzzy)]
    async fn misspelt(&self) -> Result<u32>;

    /// Says it twice.
    #[tool(name = "one", name = "other")]
    async fn twice(&self) -> Result<u32>;

    /// Has a name that no client takes.
    #[tool(name = "no spaces, please!")]
    async fn named(&self) -> Result<u32>;

    /// Has a value that is none.
    #[tool(idempotent = "yes", title)]
    async fn valued(&self) -> Result<u32>;

    /// Has an example that is not an object.
    #[tool(example = ["text"])]
    async fn listed(&self, text: String) -> Result<u32>;

    /// Has an example that is not JSON.
    #[tool(example = { text: "a" })]
    async fn unquoted(&self, text: String) -> Result<u32>;

    /// Completes nothing.
    #[completion(argument = "text")]
    async fn complete(&self, value: String) -> Result<Vec<String>>;

    /// Completes a prompt that is not there.
    #[completion(prompt = "reveiw", argument = "text")]
    async fn complete_lost(&self, value: String) -> Result<Vec<String>>;

    /// Asks for a review.
    #[prompt]
    async fn review(&self, text: String) -> Result<PromptMessages>;

    /// Completes an argument that is not there.
    #[completion(prompt = "review", argument = "txt")]
    async fn complete_typo(&self, value: String) -> Result<Vec<String>>;
}

fn main() {}
