//! The snapshot of a server.

use switchboard_host::{CallMetrics, Catalog, Host, ServerListing, ServerStatus};
use switchboard_json::Raw;
use switchboard_protocol::{Implementation, ServerCapabilities};
use switchboard_session::SessionInfo;

use super::server_state::server_state;
use super::transport_view::{identity, server_transport};
use crate::api::ConsoleState;
use crate::api::catalog::tokens_of_bytes;
use crate::contract::{ServerCounts, ServerMetrics, ServerSnapshot, SessionEra, SessionSummary, UnixMs};

/// The capabilities whose declared members are shown.
const CAPABILITIES: [&str; 15] = [
    "tools",
    "tools.listChanged",
    "resources",
    "resources.subscribe",
    "resources.listChanged",
    "prompts",
    "prompts.listChanged",
    "completions",
    "logging",
    "tasks",
    "tasks.list",
    "tasks.cancel",
    "tasks.requests.tools.call",
    "extensions",
    "experimental",
];

/// Returns the snapshots of all servers, in configured order.
pub(crate) fn server_snapshots(state: &ConsoleState) -> Vec<ServerSnapshot> {
    let catalog = state.host.catalog();
    let statuses = state.host.status();
    statuses.iter().filter_map(|status| server_snapshot(state, &catalog, status)).collect()
}

/// Returns the snapshot of a server; `None` if it is removed meanwhile.
pub(super) fn server_snapshot(
    state: &ConsoleState,
    catalog: &Catalog,
    report: &ServerStatus,
) -> Option<ServerSnapshot> {
    let (host, name) = (&state.host, report.name.as_str());
    let (status, spec) = (host.state(name).ok()?, host.spec(name).ok()?);
    let listing = catalog.listing(name);
    let entry = state.providers.config.as_ref().and_then(|config| config.entry(name));
    let approve_command = entry.as_ref().map(|entry| entry.approve_command.clone()).unwrap_or_default();
    let masked = report.config.value();
    let pid = host.child(name).ok().flatten().and_then(|child| child.pid());
    let session = status
        .session_info()
        .map(|session| session_summary(state, session, state.live.servers.connected_at(name, session)));
    Some(ServerSnapshot {
        name: name.to_owned(),
        state: server_state(&status, report.login.as_ref(), approve_command, |text| state.mask(text)),
        enabled: listing.is_some_and(|listing| listing.is_enabled()),
        scope: report.scope.clone(),
        transport: server_transport(&spec, masked, pid),
        session,
        identity: identity(name, &spec, masked, &state.providers),
        metrics: server_metrics(host, name),
        latency: state.live.servers.samples(name),
        counts: server_counts(listing.as_ref()),
        tokens: listing.as_ref().map_or(0, shown_tokens),
        config_json: match entry {
            Some(entry) if !entry.config_json.is_empty() => entry.config_json,
            _ => masked.to_string(),
        },
        unmatched_rules: listing
            .map(|listing| listing.unmatched_rules().iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
    })
}

fn session_summary(state: &ConsoleState, session: &SessionInfo, connected_at_ms: UnixMs) -> SessionSummary {
    let server = session.server.as_ref();
    let text = |text: fn(&Implementation) -> &String| server.map(text).cloned();
    SessionSummary {
        era: if session.is_self_contained() { SessionEra::Modern } else { SessionEra::Legacy },
        revision: session.revision.as_str().to_owned(),
        server_name: text(|server| &server.name),
        server_version: text(|server| &server.version),
        capabilities: capability_names(&session.capabilities),
        instructions: session.instructions.clone().map(|text| state.mask(text)),
        connected_at_ms,
    }
}

/// Returns the capabilities that a server declares, as paths; extensions by their ids.
fn capability_names(capabilities: &ServerCapabilities) -> Vec<String> {
    let declared = CAPABILITIES.into_iter().filter(|path| capabilities.declares(path));
    let mut names: Vec<String> = declared.map(str::to_owned).collect();
    let written = Raw::encode(&capabilities.extensions).unwrap_or_else(|_| Raw::null());
    names.extend(written.fields().map(|(id, _)| format!("extension {}", id.as_str())));
    names
}

/// Returns the metrics of a server. Quantiles are those of the last 64 calls while there are no more, and else those of the
/// histogram of all calls.
pub(super) fn server_metrics(host: &Host, name: &str) -> ServerMetrics {
    let metrics = host.server_metrics(name).unwrap_or_default();
    let recent = host.recent_calls(name).unwrap_or_default();
    let mut exact: Vec<f64> = recent.calls.iter().map(|call| call.took.as_secs_f64() * 1000.0).collect();
    exact.sort_by(f64::total_cmp);
    let quantile = |share: f64| match recent.total > exact.len() as u64 {
        true => metrics.latency(share).map(|latency| latency.as_secs_f64() * 1000.0),
        false => quantile_of(&exact, share),
    };
    let (p50_ms, p95_ms) = (quantile(0.5), quantile(0.95));
    let CallMetrics { calls, failures, tool_errors, reconnects, .. } = metrics;
    ServerMetrics { calls, failures, tool_errors, reconnects, p50_ms, p95_ms }
}

/// Returns a quantile of sorted values: the nearest rank.
fn quantile_of(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied()
}

fn server_counts(listing: Option<&ServerListing<'_>>) -> ServerCounts {
    let Some(listing) = listing else {
        return ServerCounts { tools: 0, hidden_tools: 0, resources: 0, templates: 0, prompts: 0 };
    };
    let all = listing.tools().count() + listing.rejected().len();
    let shown = shown_tools(listing).count();
    let lists = listing.lists();
    ServerCounts {
        tools: shown as u64,
        hidden_tools: (all - shown) as u64,
        resources: lists.resources.len() as u64,
        templates: lists.templates.len() as u64,
        prompts: lists.prompts.len() as u64,
    }
}

/// Returns the estimated tokens of the tools that are shown.
fn shown_tokens(listing: &ServerListing<'_>) -> u64 {
    shown_tools(listing).map(|tool| tokens_of_bytes(tool.definition_bytes())).sum()
}

fn shown_tools<'a>(
    listing: &ServerListing<'a>,
) -> impl Iterator<Item = &'a switchboard_host::CatalogTool> + use<'a> {
    let is_enabled = listing.is_enabled();
    let shown = listing.tools().filter(move |(_, withheld)| is_enabled && withheld.is_none());
    shown.map(|(tool, _)| &**tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_nearest_rank() {
        assert_eq!(quantile_of(&[], 0.5), None);
        assert_eq!(quantile_of(&[7.0], 0.95), Some(7.0));
        let values: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((quantile_of(&values, 0.5), quantile_of(&values, 0.95)), (Some(50.0), Some(95.0)));
    }
}
