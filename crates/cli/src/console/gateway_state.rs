//! The state of a gateway for the console: endpoints, views, limits, parked questions, who waits for a login.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex as StdMutex, PoisonError};
use std::time::{Duration, SystemTime};

use switchboard::gateway::Gateway;
use switchboard::host::{HostEvents, Status};
use switchboard_console::contract::{
    AuditPage, GatewayLimit, GatewaySnapshot, GatewayView, ParkedQuestion, ServerItem, WaitingForLogin,
    WithheldName,
};
use switchboard_console::providers::{
    AuditQuery, BoxFuture, GatewayProvider, ProviderError, ProviderErrorKind,
};
use tokio::sync::Mutex;

use super::audit_search::search;
use super::identity::unix_ms;
use crate::sanitize::one_line;

/// How often counts are compared that have no event.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The callers of a login that the gateway itself needs.
const EVERYONE: &str = "everyone";

/// The state of a gateway.
#[derive(Debug)]
pub(crate) struct GatewayState {
    gateway: Gateway,
    endpoints: Vec<String>,
    /// The audit log.
    audit: Option<PathBuf>,
    // Held while waiting: only the console waits.
    watch: Mutex<StateWatch>,
    /// Since when each server waits for a login. Held for a change, never across an await.
    waiting: StdMutex<BTreeMap<String, SystemTime>>,
}

/// What was last announced.
struct StateWatch {
    events: HostEvents,
    counts: (usize, usize, usize, u64),
}

impl std::fmt::Debug for StateWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StateWatch").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl GatewayState {
    pub(crate) fn new(gateway: &Gateway, endpoints: Vec<String>, audit: Option<PathBuf>) -> Self {
        let watch = StateWatch { events: gateway.host().events(), counts: counts(gateway) };
        Self {
            gateway: gateway.clone(),
            endpoints,
            audit,
            watch: Mutex::new(watch),
            waiting: StdMutex::default(),
        }
    }

    fn snapshot_now(&self) -> GatewaySnapshot {
        let status = self.gateway.status();
        let default_sessions = status.sessions - status.views.iter().map(|view| view.sessions).sum::<usize>();
        let mut views = vec![view_row("all servers", "/mcp".to_owned(), status.tools, default_sessions)];
        views.extend(
            status
                .views
                .iter()
                .map(|view| view_row(&view.name, format!("/mcp/{}", view.name), view.tools, view.sessions)),
        );
        let withheld = status.views.iter().flat_map(|view| &view.withheld).chain(&status.withheld);
        let mut names: BTreeMap<&str, Vec<ServerItem>> = BTreeMap::new();
        for item in withheld {
            let claims = item.claims.iter().map(|(server, name)| server_item(server, name));
            names.entry(&item.name).or_insert_with(|| claims.collect());
        }
        let quarantined = status.quarantined.iter().map(|tool| WithheldName {
            name: format!("{}/{} (changed definition)", tool.server, tool.tool),
            claims: vec![server_item(&tool.server, &tool.tool)],
        });
        let withheld = names.into_iter().map(|(name, claims)| WithheldName { name: name.to_owned(), claims });
        let parked = self.gateway.parked_calls().into_iter().map(|call| ParkedQuestion {
            principal: call.principal.map(caller_name),
            server: call.server.to_string(),
            name: call.name,
            asked_at_ms: unix_ms(call.parked_at),
            expires_at_ms: unix_ms(call.expires_at),
        });
        let of_views = status.views.iter().map(|view| view.subscriptions).sum::<usize>();
        GatewaySnapshot {
            endpoints: self.endpoints.clone(),
            views,
            limits: self.limits(),
            parked: parked.collect(),
            withheld: withheld.chain(quarantined).collect(),
            sessions: status.sessions as u64,
            subscriptions: (status.subscriptions + of_views) as u64,
            waiting_for_login: self.waiting_for_login(),
        }
    }

    fn limits(&self) -> Vec<GatewayLimit> {
        let rates = self.gateway.limits().into_iter().map(|limit| GatewayLimit {
            name: limit.name.to_string(),
            key: if limit.per.is_empty() { "all requests".to_owned() } else { limit.per.join(", ") },
            limit: limit.rate.to_string(),
            used: None,
            max: None,
            refused: limit.refused,
        });
        let (parked, calls) = (self.gateway.parked_limits(), self.gateway.parked_calls());
        let of_principals = calls.iter().filter_map(|call| call.principal.as_deref());
        let of_servers = calls.iter().map(|call| &*call.server);
        let parked = [
            ("in all", parked.total, calls.len()),
            ("principal", parked.per_principal, most(of_principals)),
            ("server", parked.per_server, most(of_servers)),
        ];
        let parked = parked.map(|(key, max, used)| GatewayLimit {
            name: "parked questions".to_owned(),
            key: key.to_owned(),
            limit: max.to_string(),
            used: Some(used as u64),
            max: Some(max as u64),
            refused: 0,
        });
        rates.chain(parked).collect()
    }

    /// Returns the servers that wait for a login. The gateway sends the logins of its own user, so everyone waits.
    fn waiting_for_login(&self) -> Vec<WaitingForLogin> {
        let host = self.gateway.host();
        let needs = |name: &String| matches!(host.state(name), Ok(Status::NeedsAuth(_)));
        let names: Vec<String> = host.servers().into_iter().filter(needs).collect();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|name, _| names.contains(name));
        let row = |name: String| {
            let since = *waiting.entry(name.clone()).or_insert_with(SystemTime::now);
            WaitingForLogin { principal: EVERYONE.to_owned(), server: name, since_ms: unix_ms(since) }
        };
        names.into_iter().map(row).collect()
    }

    async fn wait_for_change(&self) {
        let mut watch = self.watch.lock().await;
        let StateWatch { events, counts: announced } = &mut *watch;
        loop {
            tokio::select! {
                event = events.next() => match event {
                    Some(_) => break,
                    None => std::future::pending().await,
                },
                () = tokio::time::sleep(POLL_INTERVAL) => {
                    let now = counts(&self.gateway);
                    if now != *announced {
                        *announced = now;
                        break;
                    }
                }
            }
        }
        // So that the time is known from which a server waits.
        self.waiting_for_login();
    }

    async fn search_log(&self, query: &AuditQuery) -> Result<AuditPage, ProviderError> {
        let Some(path) = self.audit.clone() else {
            return Err(ProviderError::new(
                ProviderErrorKind::NotFound,
                "no_audit_log",
                "this gateway records no audit log",
            )
            .with_next_step("start it with --audit FILE"));
        };
        let shown = one_line(&path.display().to_string());
        let query = query.clone();
        let searched = tokio::task::spawn_blocking(move || search(&path, &query)).await;
        let failed = |error: String| {
            let message = format!("cannot read {shown}: {error}");
            ProviderError::new(ProviderErrorKind::Failed, "audit_unreadable", message)
        };
        match searched {
            Ok(Ok(page)) => Ok(page),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

impl GatewayProvider for GatewayState {
    fn snapshot(&self) -> BoxFuture<'_, GatewaySnapshot> {
        Box::pin(std::future::ready(self.snapshot_now()))
    }

    fn search_audit<'a>(&'a self, query: &'a AuditQuery) -> BoxFuture<'a, Result<AuditPage, ProviderError>> {
        Box::pin(self.search_log(query))
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.wait_for_change())
    }
}

/// Returns what changes without an event of the host: parked calls, sessions, subscriptions, refusals of limits.
fn counts(gateway: &Gateway) -> (usize, usize, usize, u64) {
    let status = gateway.status();
    let refused = gateway.limits().iter().map(|limit| limit.refused).sum();
    (status.parked_calls, status.sessions, status.subscriptions, refused)
}

fn view_row(name: &str, path: String, tools: usize, callers: usize) -> GatewayView {
    GatewayView { name: name.to_owned(), path, tools: tools as u64, callers: callers as u64 }
}

fn server_item(server: &str, name: &str) -> ServerItem {
    ServerItem { server: server.to_owned(), name: name.to_owned() }
}

/// Returns how often the most frequent of these names occurs.
fn most<'a>(names: impl Iterator<Item = &'a str>) -> usize {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts.into_values().max().unwrap_or_default()
}
/// Returns the name of a caller for people: its subject, and the issuer if it has one.
fn caller_name(principal: String) -> String {
    match serde_json::from_str::<(Option<String>, String)>(&principal) {
        Ok((None, subject)) => subject,
        Ok((Some(issuer), subject)) => format!("{subject} at {issuer}"),
        Err(_) => principal,
    }
}
