//! Resolves a tool selector to a tool of the catalog.

use std::sync::Arc;

use crate::error::{HostError, not_ready};
use crate::policy::AmbiguousNamePolicy;
use crate::registry::{CallTarget, Catalog, CatalogPart, CatalogTool, ToolExplanation};
use crate::set::HostState;
use crate::slot::Switch;
use crate::status::Status;

/// Selects a tool.
#[derive(Clone, Debug)]
pub(crate) enum ToolSelector {
    /// A tool of a server, by its name on the server.
    Pair { server: String, tool: String },
    /// The qualified name, or the name on the server.
    Name(String),
    /// A tool that was looked up earlier.
    Listed(Arc<CatalogTool>),
    /// A tool that was resolved in the catalog of this revision.
    Resolved(Arc<CatalogTool>, u64),
}

impl ToolSelector {
    /// Selects a tool of a server. Resolves it at once, which suffices as long as the catalog does not change.
    pub(crate) fn pair(catalog: &Catalog, server: &str, tool: &str) -> Self {
        let resolve = || {
            let part = catalog.part(server)?;
            check_available(catalog, part, catalog.tool_of_part(part, tool)?).ok()
        };
        match resolve() {
            Some(listed) => Self::Resolved(listed, catalog.revision()),
            None => Self::Pair { server: server.to_owned(), tool: tool.to_owned() },
        }
    }

    /// Returns the requested name.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Pair { tool, .. } => tool,
            Self::Name(name) => name,
            Self::Listed(listed) | Self::Resolved(listed, _) => &listed.tool.name,
        }
    }
}

/// Resolves the selector; waits for a server that is starting or has to be started.
pub(super) async fn resolve(host: &HostState, which: &ToolSelector) -> Result<Arc<CatalogTool>, HostError> {
    let catalog = host.shared.registry.snapshot();
    match which {
        ToolSelector::Resolved(listed, revision) if *revision == catalog.revision() => Ok(Arc::clone(listed)),
        ToolSelector::Listed(listed) | ToolSelector::Resolved(listed, _) => {
            let Some(part) = catalog.part(&listed.server) else {
                return Err(not_ready(&listed.server, Status::Stopped));
            };
            // The tool may have changed or disappeared since the lookup.
            match catalog.tool_of_part(part, &listed.tool.name) {
                Some(now) => check_available(&catalog, part, now),
                None => Err(unknown_tool(&catalog, &listed.tool.name)),
            }
        }
        ToolSelector::Name(name) => match catalog.find(name) {
            Some(found) if found.others.is_empty() => Ok(found.tool),
            Some(found) => match host.settings.ambiguous {
                AmbiguousNamePolicy::FirstServer => Ok(found.tool),
                AmbiguousNamePolicy::Refuse => {
                    let servers = std::iter::once(Arc::clone(&found.tool.server)).chain(found.others);
                    let example = Arc::clone(&found.tool.qualified);
                    Err(HostError::Ambiguous { tool: name.clone(), servers: servers.collect(), example })
                }
            },
            None => Err(missing_tool(host, &catalog, name)),
        },
        ToolSelector::Pair { server, tool } => {
            let Some(part) = catalog.part(server) else { return Err(host.not_connected(server)) };
            if let Some(listed) = catalog.tool_of_part(part, tool) {
                return check_available(&catalog, part, listed);
            }
            let Some(slot) = part.slot.clone() else { return Err(host.not_connected(server)) };
            slot.session().await.map_err(|status| not_ready(&slot.name, status))?;
            let catalog = host.shared.registry.snapshot();
            let found = catalog.part(server).and_then(|part| Some((part, catalog.tool_of_part(part, tool)?)));
            match found {
                Some((part, listed)) => check_available(&catalog, part, listed),
                None => Err(unknown_tool(&catalog, tool)),
            }
        }
    }
}

/// Checks that a tool has not changed since it was resolved and is still available.
pub(super) fn check_unchanged(host: &HostState, listed: &CatalogTool) -> Result<(), HostError> {
    if matches!(listed.target, CallTarget::Local(_)) {
        return Ok(());
    }
    let catalog = host.shared.registry.snapshot();
    let Some(part) = catalog.part(&listed.server) else {
        return Err(not_ready(&listed.server, Status::Stopped));
    };
    match catalog.tool_of_part(part, &listed.tool.name) {
        Some(now) if now.digest == listed.digest && now.target.is_same(&listed.target) => {
            check_available(&catalog, part, now).map(drop)
        }
        Some(_) => Err(HostError::Refused {
            tool: Arc::clone(&listed.qualified),
            reason: "the tool changed after the call was approved; call it again".to_owned(),
        }),
        None => Err(unknown_tool(&catalog, &listed.tool.name)),
    }
}

fn unknown_tool(catalog: &Catalog, tool: &str) -> HostError {
    HostError::UnknownTool { tool: tool.to_owned(), similar: catalog.similar_names(tool) }
}

/// Returns the tool, if it is available.
fn check_available(
    catalog: &Catalog,
    part: &CatalogPart,
    listed: &Arc<CatalogTool>,
) -> Result<Arc<CatalogTool>, HostError> {
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

/// Returns the error for a name without an available tool.
fn missing_tool(host: &HostState, catalog: &Catalog, name: &str) -> HostError {
    let tool = || name.to_owned();
    match catalog.explain(name, &host.statuses()) {
        ToolExplanation::Withheld { server, reason } => {
            HostError::Withheld { server, tool: tool(), reason: Box::new(reason) }
        }
        ToolExplanation::Disabled { server } => not_ready(&server, Status::Disabled),
        ToolExplanation::Unknown { similar, .. } => HostError::UnknownTool { tool: tool(), similar },
        ToolExplanation::Shown { .. } | ToolExplanation::Rejected { .. } => {
            HostError::UnknownTool { tool: tool(), similar: Vec::new() }
        }
    }
}
