//! `#[server]` where it does not belong, and a mistake in one.

use switchboard::service::prelude::*;

struct Hello;

#[server]
impl Clone for Hello {
    fn clone(&self) -> Self {
        Self
    }
}

struct Other;

/// Greets.
#[server]
impl Other {
    #[tool]
    async fn hello(&self, name: &str) -> Result<String> {
        Ok(name.to_owned())
    }
}

fn main() {}
