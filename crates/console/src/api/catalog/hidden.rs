//! Why an item of the catalog is not shown.

use switchboard_host::{ServerListing, ServerSpec, WithheldReason};

use crate::contract::{Hidden, ServerItem};

/// Returns why a tool is not shown; `None` if it is.
pub(super) fn hidden_tool(
    listing: &ServerListing<'_>,
    spec: Option<&ServerSpec>,
    withheld: Option<&WithheldReason>,
) -> Option<Hidden> {
    match withheld {
        Some(reason) => Some(hidden(reason, spec)),
        None => hidden_by_server(listing),
    }
}

/// Returns why all items of a server are not shown; `None` if they are.
pub(super) fn hidden_by_server(listing: &ServerListing<'_>) -> Option<Hidden> {
    (!listing.is_enabled()).then_some(Hidden::ServerDisabled)
}

fn hidden(reason: &WithheldReason, spec: Option<&ServerSpec>) -> Hidden {
    match reason {
        WithheldReason::Denied { rule } => Hidden::Denied { rule: rule.to_string() },
        WithheldReason::NotAllowed => {
            Hidden::NotAllowed { allow: spec.map(|spec| spec.allow_tools.clone()).unwrap_or_default() }
        }
        WithheldReason::Clash { with } => {
            let item = |(server, name): &(std::sync::Arc<str>, String)| ServerItem {
                server: server.to_string(),
                name: name.clone(),
            };
            Hidden::Clash { with: with.iter().map(item).collect() }
        }
        WithheldReason::Drifted => Hidden::Drifted,
        WithheldReason::TooMany { max } => Hidden::TooMany { max: *max as u64 },
        other => Hidden::Rejected { reason: other.to_string() },
    }
}
