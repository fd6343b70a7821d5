//! The servers as they are applied: entries of files, the server of the command line, demo servers.

use std::sync::{PoisonError, RwLock};

use switchboard::host::ServerSpec;
use switchboard::host::config::{ConfiguredServer, ResolvedConfig};

/// A server that is in no file.
#[derive(Clone, Debug)]
pub(super) struct ExtraServer {
    pub(super) name: String,
    pub(super) spec: ServerSpec,
}

/// The applied servers.
#[derive(Debug, Default)]
pub(crate) struct KnownServers {
    // Held for a clone or an assignment, never across an await.
    applied: RwLock<AppliedServers>,
}

#[derive(Clone, Debug, Default)]
struct AppliedServers {
    files: ResolvedConfig,
    extra: Vec<ExtraServer>,
}

impl KnownServers {
    /// Replaces the servers of files.
    pub(crate) fn set_files(&self, files: ResolvedConfig) {
        self.applied.write().unwrap_or_else(PoisonError::into_inner).files = files;
    }

    /// Adds a server that is in no file. Returns `false` if the name is taken.
    pub(super) fn add(&self, name: &str, spec: ServerSpec) -> bool {
        let mut applied = self.applied.write().unwrap_or_else(PoisonError::into_inner);
        let is_taken =
            applied.files.server(name).is_some() || applied.extra.iter().any(|server| server.name == name);
        if !is_taken {
            applied.extra.push(ExtraServer { name: name.to_owned(), spec });
        }
        !is_taken
    }

    /// Returns the servers of files.
    pub(super) fn files(&self) -> ResolvedConfig {
        self.applied.read().unwrap_or_else(PoisonError::into_inner).files.clone()
    }

    /// Returns the servers that are in no file.
    pub(super) fn extra(&self) -> Vec<ExtraServer> {
        self.applied.read().unwrap_or_else(PoisonError::into_inner).extra.clone()
    }

    /// Returns a server of a file.
    pub(super) fn configured(&self, name: &str) -> Option<ConfiguredServer> {
        self.applied.read().unwrap_or_else(PoisonError::into_inner).files.server(name).cloned()
    }

    /// Returns the spec of a server; `None` if it is unknown or its entry is not valid.
    pub(super) fn spec(&self, name: &str) -> Option<ServerSpec> {
        let applied = self.applied.read().unwrap_or_else(PoisonError::into_inner);
        match applied.extra.iter().find(|server| server.name == name) {
            Some(server) => Some(server.spec.clone()),
            None => ServerSpec::from_configured(applied.files.server(name)?).ok(),
        }
    }

    /// Returns all servers whose entries are valid.
    pub(super) fn specs(&self) -> Vec<(String, ServerSpec)> {
        let applied = self.applied.read().unwrap_or_else(PoisonError::into_inner);
        let configured = applied
            .files
            .servers
            .iter()
            .filter_map(|server| Some((server.name.clone(), ServerSpec::from_configured(server).ok()?)));
        let extra = applied.extra.iter().map(|server| (server.name.clone(), server.spec.clone()));
        configured.chain(extra).collect()
    }

    /// Returns whether there is no server at all.
    pub(super) fn is_empty(&self) -> bool {
        let applied = self.applied.read().unwrap_or_else(PoisonError::into_inner);
        applied.files.servers.is_empty() && applied.extra.is_empty()
    }
}
