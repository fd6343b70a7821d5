//! Host monitor: the task that turns events of the host into events of the console.
//!
//! Events of the host mark servers as changed; after a short delay each changed server is published once, however many
//! events there were. What the host has no event for (lines of stderr, latencies) is read twice a second, and only while
//! somebody reads the events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use switchboard_host::HostEvent;
use switchboard_session::client::Change;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::server_snapshot::{server_metrics, server_snapshot};
use crate::api::ConsoleState;
use crate::contract::{ConsoleEvent, ServerSnapshot};

/// How long events of the host are collected before they are published.
const COLLECT: Duration = Duration::from_millis(50);
/// The least time between two events about the catalog, which make the page fetch it.
const CATALOG_INTERVAL: Duration = Duration::from_millis(250);
/// How often stderr and latencies are read.
const POLL: Duration = Duration::from_millis(500);
/// The most lines of stderr in one event.
const STDERR_BATCH: usize = 200;

/// Runs until the host is dropped.
pub(crate) async fn monitor_host(state: Arc<ConsoleState>) {
    let mut events = state.host.events();
    let mut monitor = HostMonitor::new(state);
    let mut poll = interval(POLL);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    monitor.refresh_all();
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(event) => monitor.note(event),
                None => return,
            },
            () = sleep_until_some(monitor.due()) => monitor.publish(),
            _ = poll.tick() => monitor.poll(),
        }
    }
}

/// What was published, and what has to be.
struct HostMonitor {
    state: Arc<ConsoleState>,
    /// The last snapshot of each server.
    published: BTreeMap<String, ServerSnapshot>,
    catalog_revision: u64,
    changed: BTreeSet<String>,
    /// When the changed servers are published.
    servers_due: Option<Instant>,
    catalog_due: Option<Instant>,
    catalog_published_at: Option<Instant>,
}

impl HostMonitor {
    fn new(state: Arc<ConsoleState>) -> Self {
        Self {
            state,
            published: BTreeMap::new(),
            catalog_revision: 0,
            changed: BTreeSet::new(),
            servers_due: None,
            catalog_due: None,
            catalog_published_at: None,
        }
    }

    /// Takes an event of the host.
    fn note(&mut self, event: HostEvent) {
        match event {
            HostEvent::Status { server, .. } => {
                self.mark(&server);
                // Enabling and disabling change what is shown.
                self.mark_catalog();
            }
            HostEvent::Tools(changed) => {
                self.mark(&changed.server);
                self.mark_catalog();
            }
            HostEvent::Prompts { server }
            | HostEvent::Resources { server }
            | HostEvent::UnmatchedRules { server, .. } => {
                self.mark(&server);
                self.mark_catalog();
            }
            HostEvent::Drift(drift) => {
                self.mark(&drift.server);
                self.mark_catalog();
            }
            HostEvent::ServerChange { server, change: Change::Task(state), .. } => {
                let state = self.state.mask_json(state);
                self.state.live.tasks.note_change(&server, &state);
            }
            HostEvent::Missed(missed) => {
                tracing::debug!(missed, "events of the host were missed: all servers are read again");
                self.refresh_all();
            }
            _ => {}
        }
    }

    fn mark(&mut self, server: &str) {
        self.changed.insert(server.to_owned());
        self.servers_due.get_or_insert_with(|| Instant::now() + COLLECT);
    }

    fn mark_catalog(&mut self) {
        let now = Instant::now();
        let earliest = self.catalog_published_at.map_or(now, |last| last + CATALOG_INTERVAL);
        self.catalog_due.get_or_insert((now + COLLECT).max(earliest));
    }

    /// Marks all servers, those that are gone too.
    fn refresh_all(&mut self) {
        let known: Vec<String> = self.published.keys().cloned().chain(self.state.host.servers()).collect();
        known.iter().for_each(|server| self.mark(server));
        self.mark_catalog();
    }

    /// Returns when something has to be published.
    fn due(&self) -> Option<Instant> {
        self.servers_due.into_iter().chain(self.catalog_due).min()
    }

    fn publish(&mut self) {
        let now = Instant::now();
        if self.servers_due.is_some_and(|due| due <= now) {
            self.servers_due = None;
            self.publish_servers();
        }
        if self.catalog_due.is_some_and(|due| due <= now) {
            self.catalog_due = None;
            self.publish_catalog();
        }
    }

    fn publish_servers(&mut self) {
        let state = Arc::clone(&self.state);
        let catalog = state.host.catalog();
        for name in std::mem::take(&mut self.changed) {
            let report = state.host.server_status(&name).ok();
            let snapshot = report.and_then(|report| server_snapshot(&state, &catalog, &report));
            match snapshot {
                Some(snapshot) if self.published.get(&name) == Some(&snapshot) => {}
                Some(snapshot) => {
                    self.published.insert(name, snapshot.clone());
                    state.events.publish(ConsoleEvent::Server { server: Box::new(snapshot) });
                }
                None => {
                    state.live.servers.remove(&name);
                    if self.published.remove(&name).is_some() {
                        state.events.publish(ConsoleEvent::ServerRemoved { name });
                    }
                }
            }
        }
    }

    fn publish_catalog(&mut self) {
        let revision = self.state.host.catalog().revision();
        if revision != self.catalog_revision {
            self.catalog_revision = revision;
            self.catalog_published_at = Some(Instant::now());
            self.state.events.publish(ConsoleEvent::Catalog { revision });
        }
    }

    /// Reads what the host has no event for.
    fn poll(&mut self) {
        if !self.state.events.has_readers() {
            return;
        }
        let servers = self.state.host.servers();
        let is_gone = |name: &&String| !servers.contains(name);
        let gone: Vec<String> = self.published.keys().filter(is_gone).cloned().collect();
        let new = servers.iter().filter(|name| !self.published.contains_key(*name));
        let differing: Vec<String> = gone.into_iter().chain(new.cloned()).collect();
        differing.iter().for_each(|server| self.mark(server));
        // Some changes of the catalog, such as an accepted definition, show nothing else.
        if self.state.host.catalog().revision() != self.catalog_revision {
            self.mark_catalog();
        }
        for server in &servers {
            publish_samples(&self.state, server);
            publish_stderr(&self.state, server);
        }
    }
}

/// Publishes the latencies of the calls that have finished since.
fn publish_samples(state: &ConsoleState, server: &str) {
    let Ok(recent) = state.host.recent_calls(server) else { return };
    let metrics = server_metrics(&state.host, server);
    state.events.update(|| {
        let samples = state.live.servers.add_samples(server, &recent);
        let server = server.to_owned();
        (!samples.is_empty()).then_some(ConsoleEvent::Latency { server, samples, metrics })
    });
}

/// Publishes the new lines of stderr, the last ones if there are many: the page fetches the rest.
pub(super) fn publish_stderr(state: &ConsoleState, server: &str) {
    state.update_secrets();
    state.events.update(|| {
        let mask = |text| state.traffic.mask_values(text);
        let mut lines = state.live.servers.read_stderr(&state.host, server, mask);
        lines.drain(..lines.len().saturating_sub(STDERR_BATCH));
        let server = server.to_owned();
        (!lines.is_empty()).then_some(ConsoleEvent::Stderr { server, lines })
    });
}

/// Sleeps until a time; pending forever without one.
async fn sleep_until_some(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
