//! Applies a resolved configuration to a host.

use crate::config::ResolvedConfig;
use crate::host::Host;
use crate::report::SetServersOutcome;
use crate::server_spec::ServerSpec;

impl Host {
    /// Replaces the set of servers by those of a configuration, as [`Self::set_servers`]. A server with an invalid entry is
    /// not in the set; its error is in the result.
    ///
    /// ```no_run
    /// use switchboard::host::Host;
    /// use switchboard::host::config::ConfigWatcher;
    ///
    /// # async fn follow(host: Host, mut files: ConfigWatcher) {
    /// // For every change of a file; calls on servers that stay are not interrupted.
    /// host.apply(files.current()).await;
    /// loop {
    ///     host.apply(files.changed().await).await;
    /// }
    /// # }
    /// ```
    pub async fn apply(&self, files: &ResolvedConfig) -> SetServersOutcome {
        let mut broken = Vec::new();
        let mut wanted = Vec::new();
        for server in &files.servers {
            match ServerSpec::from_configured(server) {
                Ok(desired) => wanted.push((server.name.clone(), desired)),
                Err(error) => broken.push((server.name.clone(), error.to_string())),
            }
        }
        let mut done = self.set_servers(wanted).await;
        done.errors.extend(broken);
        done
    }
}
