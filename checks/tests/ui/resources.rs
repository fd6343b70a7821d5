//! URIs, and the parameters that stand in them.

use std::collections::HashMap;

use switchboard::service::prelude::*;

/// A service with mistakes, all of which are told at once.
#[service]
trait Mistakes {
    /// Is nowhere.
    #[resource(mime = "text/plain")]
    async fn nowhere(&self) -> Result<String>;

    /// Has no scheme.
    #[resource("documents")]
    async fn relative(&self) -> Result<String>;

    /// Has an open end.
    #[resource("doc://{id")]
    async fn open(&self, id: String) -> Result<String>;

    /// Has a variable that nobody takes.
    #[resource("doc://{id}/{page}")]
    async fn too_many(&self, id: String) -> Result<String>;

    /// Has a parameter that the written query forgets.
    #[resource("doc://list{?limit}")]
    async fn forgotten(&self, limit: Option<u32>, tag: Option<String>) -> Result<String>;

    /// Stays fresh for how long?
    #[resource("doc://fresh", ttl = "30")]
    async fn fresh(&self) -> Result<String>;

    /// May be shared with whom?
    #[resource("doc://shared", cache = "everyone")]
    async fn shared(&self) -> Result<String>;

    /// Takes what cannot stand in a URI.
    #[resource("doc://odd")]
    async fn odd(&self, map: HashMap<String, String>, pair: (u32, u32), lists: Vec<Vec<u32>>) -> Result<String>;

    /// Has a list.
    #[prompt]
    async fn listed(&self, texts: Vec<String>) -> Result<PromptMessages>;
}

fn main() {}
