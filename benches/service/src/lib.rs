//! The server of the benchmark, written as a service: a trait, and what implements it.

mod padded;

use std::sync::{Arc, OnceLock};

use bench_kit::{Usage, fixture};
use switchboard::Server;
use switchboard::service::ServiceBuilder;
use switchboard::service::prelude::*;

/// The tools of the benchmark.
#[switchboard::service(name = "bench", version = "1.0.0")]
pub trait Bench {
    /// Says the text back.
    #[tool]
    async fn echo(&self, text: String) -> Result<String>;

    /// Answers one text of 1 MiB.
    #[tool]
    async fn big(&self) -> Result<String>;

    /// Says what this process has used so far.
    #[tool]
    async fn usage(&self) -> Result<String>;
}

#[derive(Default)]
struct Tools {
    /// Made when it is first asked for, so that the server starts fast.
    big: OnceLock<String>,
}

impl Bench for Tools {
    async fn echo(&self, text: String) -> Result<String> {
        Ok(text)
    }

    async fn big(&self) -> Result<String> {
        Ok(self.big.get_or_init(fixture::big).clone())
    }

    async fn usage(&self) -> Result<String> {
        Ok(Usage::now().text())
    }
}

/// The server, with this many tools: those of the trait, and others that are only listed.
pub fn server(tools: usize) -> Arc<Server> {
    let builder = BenchServer::builder(Tools::default());
    let builder =
        if tools > 3 { ServiceBuilder::new(padded::padded(builder.dispatch(), tools)) } else { builder };
    builder.list_changed(false).build().expect("the design is sound")
}
