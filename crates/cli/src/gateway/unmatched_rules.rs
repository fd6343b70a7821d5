//! Warnings of a starting gateway about rules that match no tool of its servers.

use std::convert::Infallible;

use switchboard::gateway::policy::Policy;
use switchboard::host::{Host, HostEvent, HostEvents, StatusKind};

use crate::gateway::known_tool::{known_tools, unmatched_rules};
use crate::output::Screen;
use crate::sanitize::one_line;

/// Prints the warnings once, as soon as the tools of all servers are known: from memory, or from the servers.
pub(crate) async fn warn_when_tools_are_known(
    mut events: HostEvents,
    host: &Host,
    policy: &Policy,
    screen: &Screen,
) -> Infallible {
    while policy.rule_count() > 0 && !warn_about_unmatched_rules(host, policy, screen) {
        loop {
            match events.next().await {
                Some(HostEvent::Tools(_) | HostEvent::Status { .. } | HostEvent::Missed(_)) => break,
                Some(_) => {}
                None => std::future::pending().await,
            }
        }
    }
    std::future::pending().await
}

/// Prints a warning for each rule that matches no tool. Returns `false`, and prints none, unless the tools of all servers are
/// known: a rule may be about those of a server that is down.
pub(crate) fn warn_about_unmatched_rules(host: &Host, policy: &Policy, screen: &Screen) -> bool {
    let tools = known_tools(host);
    let is_known = |server: &String| {
        let connected =
            || host.server_status(server).is_ok_and(|server| server.status == StatusKind::Connected);
        tools.contains_key(server) || connected()
    };
    let servers = host.servers();
    if servers.is_empty() || !servers.iter().all(is_known) {
        return false;
    }
    for warning in unmatched_rules(policy, &tools) {
        screen.warn(&one_line(&warning));
    }
    true
}
