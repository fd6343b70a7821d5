//! From the name of a tool to the tool, or to why there is none.

use std::sync::Arc;

use crate::error::{HostError, not_ready};
use crate::policy::AmbiguousNames;
use crate::registry::{Catalog, CatalogTool, Part, Target, Why};
use crate::set::Inner;
use crate::slot::Switch;
use crate::status::Status;

/// Which tool is meant.
#[derive(Clone, Debug)]
pub(crate) enum Which {
    /// A tool of a server, under the server's name for it.
    Pair { server: String, tool: String },
    /// Either of its names.
    Name(String),
    /// One that was looked up.
    Listed(Arc<CatalogTool>),
    /// One that was looked up and may be used, in a catalogue of this revision.
    Resolved(Arc<CatalogTool>, u64),
}

impl Which {
    /// A tool of a server. Looked up at once, which is all there is to do while the catalogue stays what it is.
    pub(crate) fn pair(catalog: &Catalog, server: &str, tool: &str) -> Self {
        let resolve = || {
            let part = catalog.part(server)?;
            allowed(catalog, part, catalog.of_part(part, tool)?).ok()
        };
        match resolve() {
            Some(listed) => Self::Resolved(listed, catalog.revision()),
            None => Self::Pair { server: server.to_owned(), tool: tool.to_owned() },
        }
    }

    /// The tool, as it was asked for.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Pair { tool, .. } => tool,
            Self::Name(name) => name,
            Self::Listed(listed) | Self::Resolved(listed, _) => &listed.tool.name,
        }
    }
}

/// Finds the tool; waits for a server that has just been started, or has to be.
pub(super) async fn resolve(host: &Inner, which: &Which) -> Result<Arc<CatalogTool>, HostError> {
    let catalog = host.shared.registry.snapshot();
    match which {
        Which::Resolved(listed, revision) if *revision == catalog.revision() => Ok(Arc::clone(listed)),
        Which::Listed(listed) | Which::Resolved(listed, _) => {
            let Some(part) = catalog.part(&listed.server) else {
                return Err(not_ready(&listed.server, Status::Stopped));
            };
            // What was looked up earlier may be another by now, or gone.
            match catalog.of_part(part, &listed.tool.name) {
                Some(now) => allowed(&catalog, part, now),
                None => Err(unknown(&catalog, &listed.tool.name)),
            }
        }
        Which::Name(name) => match catalog.find(name) {
            Some(found) if found.others.is_empty() => Ok(found.tool),
            Some(found) => match host.settings.ambiguous {
                AmbiguousNames::FirstServer => Ok(found.tool),
                AmbiguousNames::Refuse => {
                    let servers = std::iter::once(Arc::clone(&found.tool.server)).chain(found.others);
                    let example = Arc::clone(&found.tool.qualified);
                    Err(HostError::Ambiguous { tool: name.clone(), servers: servers.collect(), example })
                }
            },
            None => Err(missing(host, &catalog, name)),
        },
        Which::Pair { server, tool } => {
            let Some(part) = catalog.part(server) else { return Err(host.not_connected(server)) };
            if let Some(listed) = catalog.of_part(part, tool) {
                return allowed(&catalog, part, listed);
            }
            let Some(slot) = part.slot.clone() else { return Err(host.not_connected(server)) };
            slot.session().await.map_err(|status| not_ready(&slot.name, status))?;
            let catalog = host.shared.registry.snapshot();
            let found = catalog.part(server).and_then(|part| Some((part, catalog.of_part(part, tool)?)));
            match found {
                Some((part, listed)) => allowed(&catalog, part, listed),
                None => Err(unknown(&catalog, tool)),
            }
        }
    }
}

/// Whether a tool is still what it was, and may still be used.
pub(super) fn still(host: &Inner, listed: &CatalogTool) -> Result<(), HostError> {
    if matches!(listed.target, Target::Local(_)) {
        return Ok(());
    }
    let catalog = host.shared.registry.snapshot();
    let Some(part) = catalog.part(&listed.server) else {
        return Err(not_ready(&listed.server, Status::Stopped));
    };
    match catalog.of_part(part, &listed.tool.name) {
        Some(now) if now.digest == listed.digest && now.target.is(&listed.target) => {
            allowed(&catalog, part, now).map(drop)
        }
        Some(_) => Err(HostError::Refused {
            tool: Arc::clone(&listed.qualified),
            reason: "it is another tool by now than the one that was permitted; call it again".to_owned(),
        }),
        None => Err(unknown(&catalog, &listed.tool.name)),
    }
}

fn unknown(catalog: &Catalog, tool: &str) -> HostError {
    HostError::UnknownTool { tool: tool.to_owned(), near: catalog.near(tool) }
}

/// The tool, if it may be used.
fn allowed(catalog: &Catalog, part: &Part, listed: &Arc<CatalogTool>) -> Result<Arc<CatalogTool>, HostError> {
    if part.switch == Switch::Off {
        return Err(not_ready(&listed.server, Status::Disabled));
    }
    match catalog.withheld(listed) {
        Some(reason) => Err(HostError::Withheld {
            server: Arc::clone(&listed.server),
            tool: listed.tool.name.clone(),
            reason: Box::new(reason.clone()),
        }),
        None => Ok(Arc::clone(listed)),
    }
}

/// Why there is no tool of this name.
fn missing(host: &Inner, catalog: &Catalog, name: &str) -> HostError {
    let tool = || name.to_owned();
    match catalog.why(name, &host.statuses()) {
        Why::Withheld { server, reason } => {
            HostError::Withheld { server, tool: tool(), reason: Box::new(reason) }
        }
        Why::Disabled { server } => not_ready(&server, Status::Disabled),
        Why::Unknown { near, .. } => HostError::UnknownTool { tool: tool(), near },
        Why::Shown { .. } | Why::Rejected { .. } => HostError::UnknownTool { tool: tool(), near: Vec::new() },
    }
}
