//! What is known of the servers a gate decides about, and the hashes of the tools it has seen.
//!
//! Invariant: a server nobody told of is untrusted, and an answer about it holds for its name alone.

use std::collections::HashMap;

use switchboard_protocol::Tool;

use crate::config::Configured;
use crate::permission::definition::{DefinitionHash, ServerIdentity};
use crate::permission::verdict::Trust;
use crate::server_spec::ServerSpec;

/// A server as permission sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// What is reached under its name.
    pub identity: ServerIdentity,
    /// Whether what it says of its tools is believed.
    pub trust: Trust,
}

impl Known {
    /// What a configured server is; nothing, if it cannot be run.
    pub fn of(server: &Configured) -> Option<Self> {
        let spec = ServerSpec::from(server.plan.as_ref().ok()?);
        let trust = if server.trust { Trust::Trusted } else { Trust::Untrusted };
        Some(Self { identity: ServerIdentity::of(&server.name, &spec.transport), trust })
    }

    /// Returns what is known of a server of the host.
    pub fn of_spec(name: &str, spec: &ServerSpec) -> Self {
        let trust = if spec.trust { Trust::Trusted } else { Trust::Untrusted };
        Self { identity: ServerIdentity::of(name, &spec.transport), trust }
    }

    /// One of which only the name is known.
    fn by_name(name: &str) -> Self {
        Self { identity: ServerIdentity::by_name(name), trust: Trust::Untrusted }
    }
}

/// Servers, and the tools of theirs that were asked about.
#[derive(Debug, Default)]
pub(crate) struct Book {
    servers: HashMap<String, Known>,
    /// By server and tool. As many as are called, and no more than are listed.
    definitions: HashMap<String, HashMap<String, (Tool, DefinitionHash)>>,
}

impl Book {
    pub(crate) fn new(servers: impl IntoIterator<Item = (String, Known)>) -> Self {
        Self { servers: servers.into_iter().collect(), definitions: HashMap::new() }
    }

    pub(crate) fn server(&self, name: &str) -> Known {
        self.servers.get(name).copied().unwrap_or_else(|| Known::by_name(name))
    }

    /// The hash of a tool; made once for as long as its definition stays.
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
