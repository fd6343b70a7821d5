//! The runtime of the agents: one host with every service registered, and its cleanup.
//!
//! Written once by `switchboard new --agent`; it is yours. This is the place to add other servers: a program, an
//! address, or all that a project's `.mcp.json` has.

use std::error::Error;

use __crate__::__Trait__Server;
use __crate__::in_memory::InMemory;
use switchboard::Host;
use switchboard::host::config::Plan;

/// What the agents run on.
#[derive(Debug)]
pub struct Runtime {
    host: Host,
}

impl Runtime {
    /// Starts the host and connects every service; end it with [`Self::close`].
    ///
    /// # Errors
    /// When a service does not start.
    pub async fn start() -> Result<Self, Box<dyn Error>> {
        let notes = __Trait__Server::builder(InMemory::default()).build()?;
        let host = Host::builder().with_name("__package__-agents", env!("CARGO_PKG_VERSION"));
        let host = host.with_server("notes", &notes).build();
        host.connect("notes", Plan::in_process("notes")).await?;
        Ok(Self { host })
    }

    /// The tools of all services, in one catalogue.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Ends every service in order.
    pub async fn close(self) {
        self.host.close().await;
    }
}
