//! What methods take.

use switchboard::service::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct All {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct More {
    count: u32,
}

/// A service with mistakes, all of which are told at once.
#[service]
trait Mistakes {
    /// Takes a pair apart.
    #[tool]
    async fn pattern(&self, (a, b): (u32, u32)) -> Result<u32>;

    /// Borrows a text.
    #[tool]
    async fn borrowed(&self, text: &str) -> Result<u32>;

    /// Borrows a list.
    #[tool]
    async fn slice(&self, numbers: &[u32]) -> Result<u32>;

    /// Owns the context.
    #[tool]
    async fn owned_cx(&self, cx: Cx) -> Result<u32>;

    /// Takes whatever can be shown.
    #[tool]
    async fn shown(&self, it: impl ToString) -> Result<u32>;

    /// Has two wholes.
    #[tool]
    async fn twice_whole(&self, #[args] all: All, #[args] more: More) -> Result<u32>;

    /// Has a whole and a part.
    #[tool]
    async fn whole_and_part(&self, #[args] all: All, count: u32) -> Result<u32>;

    /// Has an attribute that only a struct can have.
    #[tool]
    async fn serde(&self, #[serde(flatten)] all: All) -> Result<u32>;

    /// Has a header that cannot be one.
    #[tool]
    async fn header(&self, #[header("Region")] regions: Vec<String>, #[header] zone: String) -> Result<u32>;

    /// Has a misspelt attribute.
    #[tool]
    async fn misspelt(&self, #[arg(defualt = 3)] count: u32) -> Result<u32>;

    /// Has an argument twice.
    #[tool]
    async fn twice(&self, text: String, #[serde(rename = "text")] other: String) -> Result<u32>;
}

fn main() {}
