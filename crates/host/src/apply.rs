//! From what the files say to the servers of a host.

use switchboard_session::link::BoxFuture;

use crate::config::{Configured, Fault, Resolved};
use crate::host::Host;
use crate::permission::{Gate, Known};
use crate::policy::{Permit, Permitted, Proposed};
use crate::report::{ServerStatus, SetServers, Written};
use crate::server_spec::ServerSpec;
use crate::status::Word;

impl ServerSpec {
    /// A configured server, with what a status shows of its entry.
    ///
    /// # Errors
    /// When its entry cannot be run.
    pub fn of(server: &Configured) -> Result<Self, Fault> {
        server.plan.as_ref().map(Self::from).map_err(Clone::clone)
    }
}

impl Host {
    /// Makes the set of servers what the files say, as [`Self::set_servers`]. A server whose entry cannot be run is not
    /// in the set, and why not is among the errors.
    ///
    /// ```no_run
    /// use switchboard::host::Host;
    /// use switchboard::host::config::Watch;
    ///
    /// # async fn follow(host: Host, mut files: Watch) {
    /// // With every change of a file; calls under way on servers that stay are not disturbed.
    /// host.apply(files.current()).await;
    /// loop {
    ///     host.apply(files.changed().await).await;
    /// }
    /// # }
    /// ```
    pub async fn apply(&self, files: &Resolved) -> SetServers {
        let mut broken = Vec::new();
        let mut wanted = Vec::new();
        for server in &files.servers {
            match ServerSpec::of(server) {
                Ok(desired) => wanted.push((server.name.clone(), desired)),
                Err(fault) => broken.push((server.name.clone(), fault.to_string())),
            }
        }
        let mut done = self.set_servers(wanted).await;
        done.errors.extend(broken);
        done
    }
}

impl ServerStatus {
    /// How a configured server is doing whose entry cannot be run, so that no host has it; nothing, if it can.
    pub fn of_broken(server: &Configured) -> Option<Self> {
        let fault = server.plan.as_ref().err()?;
        Some(Self {
            name: server.name.clone(),
            status: Word::Failed,
            server_info: None,
            error: Some(fault.to_string()),
            config: Written(match &server.entry {
                Some(entry) => entry.masked().into(),
                None => serde_json::json!({"type": "invalid"}).into(),
            }),
            scope: Some(server.scope.word().to_owned()),
            tools: None,
        })
    }
}

impl Gate {
    /// Knows the servers of these files from now on, and no others.
    pub fn know(&self, files: &Resolved) {
        let known = |server: &Configured| Some((server.name.clone(), Known::of(server)?));
        self.set_servers(files.servers.iter().filter_map(known));
    }
}

impl Permit for Gate {
    fn permit<'a>(&'a self, call: &'a Proposed<'a>) -> BoxFuture<'a, Permitted> {
        Box::pin(async move {
            let subject = self.subject(call.server, call.tool);
            match Self::permit(self, &subject, Some(call.arguments)).await {
                Ok(_) => Permitted::Yes,
                Err(refused) => Permitted::No { reason: refused.to_string() },
            }
        })
    }
}
