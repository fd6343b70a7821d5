//! A future that cannot be sent: the error is at the `impl`, where it is made.

use std::rc::Rc;

use switchboard::service::prelude::*;

/// Waits.
#[service]
trait Waits {
    /// Waits.
    #[tool]
    async fn wait(&self) -> Result<u32>;
}

struct Svc;

impl Waits for Svc {
    async fn wait(&self) -> Result<u32> {
        let here = Rc::new(3);
        std::future::ready(()).await;
        Ok(*here)
    }
}

fn main() {}
