//! A fallback that cannot call what has no role in MCP.

use switchboard::prelude::*;

/// Indexes.
#[service(rpc = "/rpc")]
trait Indexes {
    /// Looks for a text.
    #[tool]
    async fn search(&self, text: String) -> Result<u32>;

    /// Builds the index anew.
    async fn reindex(&self, full: bool) -> Result<u32>;
}

fn use_it(_: impl Indexes) {}

fn call(session: switchboard::ClientSession) {
    use_it(IndexesClient::new(session.clone()));
    use_it(IndexesClient::new(session).with_fallback("http://localhost/rpc"));
}

fn main() {}
