//! The servers that a gate knows, and cached hashes of their tools.
//!
//! Invariant: an unknown server is untrusted, and its identity is its name alone.

use std::collections::HashMap;

use switchboard_protocol::Tool;

use crate::config::ConfiguredServer;
use crate::permission::definition::{DefinitionHash, ServerIdentity};
use crate::permission::policy::Trust;
use crate::server_spec::ServerSpec;

/// The identity and trust level of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownServer {
    /// The identity.
    pub identity: ServerIdentity,
    /// Whether the annotations of its tools are trusted.
    pub trust: Trust,
}

impl KnownServer {
    /// Returns a configured server; `None` if its entry is invalid.
    pub fn from_configured(server: &ConfiguredServer) -> Option<Self> {
        let spec = ServerSpec::from(server.plan.as_ref().ok()?);
        let trust = if server.trust { Trust::Trusted } else { Trust::Untrusted };
        Some(Self { identity: ServerIdentity::new(&server.name, &spec.transport), trust })
    }

    /// Returns a server of the host.
    pub fn from_spec(name: &str, spec: &ServerSpec) -> Self {
        let trust = if spec.trust { Trust::Trusted } else { Trust::Untrusted };
        Self { identity: ServerIdentity::new(name, &spec.transport), trust }
    }

    /// Returns an unknown server.
    fn by_name(name: &str) -> Self {
        Self { identity: ServerIdentity::by_name(name), trust: Trust::Untrusted }
    }
}

/// Known servers, and the definition hashes of tools that were called.
#[derive(Debug, Default)]
pub(crate) struct KnownServers {
    servers: HashMap<String, KnownServer>,
    /// By server and tool; at most one per listed tool.
    definitions: HashMap<String, HashMap<String, (Tool, DefinitionHash)>>,
}

impl KnownServers {
    pub(crate) fn new(servers: impl IntoIterator<Item = (String, KnownServer)>) -> Self {
        Self { servers: servers.into_iter().collect(), definitions: HashMap::new() }
    }

    pub(crate) fn server(&self, name: &str) -> KnownServer {
        self.servers.get(name).copied().unwrap_or_else(|| KnownServer::by_name(name))
    }

    /// Returns the definition hash of a tool; computed again only if the tool changed.
    pub(crate) fn definition(&mut self, server: &str, tool: &Tool) -> DefinitionHash {
        let known = self.definitions.get(server).and_then(|tools| tools.get(&tool.name));
        if let Some((_, hash)) = known.filter(|(listed, _)| listed == tool) {
            return *hash;
        }
        let hash = DefinitionHash::of(tool);
        self.definitions
            .entry(server.to_owned())
            .or_default()
            .insert(tool.name.clone(), (tool.clone(), hash));
        hash
    }
}
