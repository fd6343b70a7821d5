//! The runtime of the agents: one host with every service connected, and its cleanup.
//!
//! Written once by `switchboard new --agent`; it is yours. Connect other servers here: a program, an
//! address, or an entry of a project's `.mcp.json`.

use std::error::Error;
use std::time::Duration;

use switchboard::{Host, ServerSpec, Stdio};

/// The program of the service, run in the project's folder with `serve --stdio`.
__command__

/// Variables that cargo and rustup need, if the program is run by them.
const VARIABLES: [&str; 4] = ["CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"];

/// Runtime of the agents.
#[derive(Debug)]
pub struct Runtime {
    host: Host,
}

impl Runtime {
    /// Connects every service; close it with [`Self::close`].
    ///
    /// # Errors
    /// Returns an error if a service does not start.
    pub async fn start() -> Result<Self, Box<dyn Error>> {
        let (program, arguments) = PROGRAM.split_first().ok_or("no program is named")?;
        let mut service = Stdio::new(*program)
            .args(arguments.iter().copied())
            .args(["serve", "--stdio"])
            .cwd(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        for name in VARIABLES {
            service = service.inherit_env(name);
        }
        // Cargo may build the program first.
        let service = ServerSpec::new(service).startup_timeout(Duration::from_secs(900));
        let host = Host::builder()
            .with_name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
            .build();
        host.connect("__service__", service).await?;
        Ok(Self { host })
    }

    /// Returns the tools of all services in one catalog.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Stops every service in order.
    pub async fn close(self) {
        self.host.close().await;
    }
}
