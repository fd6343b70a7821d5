//! Lists of resources and prompts across servers.

use std::sync::Arc;

use switchboard_protocol::ReadResourceResult;
use switchboard_session::client::List;
use switchboard_session::link::BoxFuture;
use switchboard_session::{CallError, ClientSession};
use tokio::task::JoinSet;

use crate::error::{HostError, needs_auth, not_ready};
use crate::session_scope::SessionScope;
use crate::set::HostState;
use crate::slot::{Slot, SlotUse};
use crate::status::StatusKind;

/// The merged lists of several servers, in configured order.
///
/// ```
/// use switchboard::{Host, InProcess};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// let host = Host::new();
/// host.connect("notes", InProcess::new(&demo::server())).await?;
/// let resources = host.list_resources(None).await?; // of all servers
/// assert!(resources.errors.is_empty());
/// assert_eq!((&*resources.items[0].server, resources.items[0].item.uri.as_str()), ("notes", "note://today"));
/// # demo::done() });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MergedList<T> {
    /// The items, each with its server.
    pub items: Vec<FromServer<T>>,
    /// Servers whose list failed, with the error.
    pub errors: Vec<(Arc<str>, HostError)>,
}

/// An item and the name of its server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FromServer<T> {
    /// The server.
    pub server: Arc<str>,
    /// The item.
    pub item: T,
}

/// Requests one kind of list from a session.
type ListRequest<T> = fn(&ClientSession) -> BoxFuture<'_, Result<Arc<List<T>>, CallError>>;

impl HostState {
    pub(crate) async fn read_resource(
        &self,
        server: &str,
        uri: &str,
    ) -> Result<ReadResourceResult, HostError> {
        let (slot, session) = self.open_session(server).await?;
        report_error(&slot, session.read_resource(uri).await)
    }

    pub(crate) async fn merge_lists<T: Clone + Send + Sync + 'static>(
        &self,
        server: Option<&str>,
        request: ListRequest<T>,
    ) -> Result<MergedList<T>, HostError> {
        if let Some(server) = server {
            let (slot, session) = self.open_session(server).await?;
            let listing = report_error(&slot, request(&session).await)?;
            let of = |item: &T| FromServer { server: Arc::clone(&slot.name), item: item.clone() };
            return Ok(MergedList { items: listing.iter().map(of).collect(), errors: Vec::new() });
        }
        let slots = self.slots();
        let connected = slots.iter().filter(|slot| slot.status().kind() == StatusKind::Connected);
        let mut requests = JoinSet::new();
        for (position, slot) in connected.cloned().enumerate() {
            requests.spawn(async move {
                let slot = SlotUse::new(slot);
                let listing = match slot.current() {
                    Some(session) => report_error(&slot, request(&session).await),
                    None => Err(not_ready(&slot.name, slot.status())),
                };
                (position, slot, listing)
            });
        }
        let mut lists: Vec<_> = Vec::with_capacity(requests.len());
        while let Some(list) = requests.join_next().await {
            lists.extend(list.ok());
        }
        // In configured order, whichever answered first.
        lists.sort_by_key(|(position, ..)| *position);
        let mut merged = MergedList { items: Vec::new(), errors: Vec::new() };
        for (_, slot, listing) in lists {
            let name = || Arc::clone(&slot.name);
            match listing {
                Ok(listing) => {
                    merged
                        .items
                        .extend(listing.iter().map(|item| FromServer { server: name(), item: item.clone() }));
                }
                Err(error) => merged.errors.push((name(), error)),
            }
        }
        Ok(merged)
    }

    /// Returns the main session of a server; waits for one that is starting.
    pub(crate) async fn open_session(&self, server: &str) -> Result<(SlotUse, ClientSession), HostError> {
        self.open_session_in(server, None).await
    }

    /// Returns a session of a server: its main one, or that of a scope. Waits for one that is starting.
    pub(crate) async fn open_session_in(
        &self,
        server: &str,
        scope: Option<&SessionScope>,
    ) -> Result<(SlotUse, ClientSession), HostError> {
        let slot = self.use_slot(&self.slot(server)?, scope).await?;
        match slot.session().await {
            Ok(session) => Ok((slot, session)),
            Err(status) => Err(not_ready(&slot.name, status)),
        }
    }
}

/// Converts the error of a request and reports it to the slot.
pub(crate) fn report_error<T>(slot: &Slot, outcome: Result<T, CallError>) -> Result<T, HostError> {
    outcome.map_err(|error| {
        slot.report_call_error(&error);
        needs_auth(slot, &error)
            .unwrap_or_else(|| HostError::Session { server: Arc::clone(&slot.name), error: Box::new(error) })
    })
}
