//! While something is wrong, the trait is there: what implements it gives no other errors.

use switchboard::service::prelude::*;

/// Greets.
#[service]
trait Greets {
    #[tool]
    async fn greet(&self, name: String) -> Result<String>;
}

struct Svc;

impl Greets for Svc {
    async fn greet(&self, name: String) -> Result<String> {
        Ok(name)
    }
}

fn main() {
    drop(Svc.greet("you".into()));
}
