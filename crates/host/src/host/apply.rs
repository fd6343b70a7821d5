//! From what the files say to the servers of a host.

use crate::config::Resolved;
use crate::host::Host;
use crate::report::SetServers;
use crate::server_spec::ServerSpec;

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
